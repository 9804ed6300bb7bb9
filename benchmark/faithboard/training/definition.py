"""What a training is: a definition, like a task, a method or a metric, so that a submission can bring its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.config import LAST, MASKING, SWITCHED_OFF, TrainingConfig
from faithboard.rng import Rng
from faithboard.task import Example
from faithboard.training.supervised import CrossEntropy

if TYPE_CHECKING:
    from jaxtyping import Float, Int

    from faithboard.data.vocabulary import Vocabulary


class Procedure(Protocol):
    """The loss of one batch.

    It carries nothing from one batch to the next: a training that was killed goes on with a new procedure.
    """

    def __call__(self, model: Classifier, batch: Batch, labels: Int[Tensor, "batch"], rng: Rng) -> Float[Tensor, ""]:
        """The loss to minimise. The model is in training mode; everything random comes from `rng`."""


@dataclass(frozen=True)
class Training:
    """A way to train a model. The loop, its epochs, batches and choice of the best one, is the same for all.

    The smallest submission is a function and its name:

        def confident(supervised, config, vocabulary):
            def loss(model, batch, labels, rng):
                logits = model(batch).logits
                return supervised(logits, labels, batch.candidates) - 0.01 * logits.abs().mean()
            return loss

        CONFIDENT = Training("confident", confident, source="an example")
    """

    name: str
    procedure: Callable[[CrossEntropy, TrainingConfig, Vocabulary], Procedure]
    """(supervised loss of the task, settings, words of the task) -> procedure of one run."""
    source: str
    """The paper and equation, or the place where the definition stands."""
    passes: int = 1
    """Passes over a batch, forward and backward each, that one step takes: for the cost in a plan."""
    texts: Callable[[Sequence[Example], int], Sequence[Example]] | None = None
    """(training texts, seed) -> those it is trained on in their place; None for the texts as they are."""
    scored: bool = True
    """False for a control: methods explain its models, and no metric is asked of them."""
    reads: frozenset[str] = frozenset()
    """Which settings of `config.MASKING` it reads; all others every training has."""

    def used(self, config: TrainingConfig) -> dict[str, Any]:
        """The settings that take part in this training, by name: what its key and its record hold.

        Left out is what it does not read and what is switched off, so neither changes a key.
        """
        unread = (MASKING - self.reads) | ({"patience"} if config.select == LAST else set())
        return {
            name: value
            for name, value in dataclasses.asdict(config).items()
            if name not in unread and not (name in SWITCHED_OFF and value == SWITCHED_OFF[name])
        }
