"""The training `standard`: the supervised loss of the task, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.rng import Rng
from faithboard.training.definition import Training
from faithboard.training.supervised import CrossEntropy

if TYPE_CHECKING:
    from jaxtyping import Float, Int


@dataclass(frozen=True)
class Supervised:
    """The supervised loss of a batch."""

    loss: CrossEntropy

    def __call__(self, model: Classifier, batch: Batch, labels: Int[Tensor, "batch"], rng: Rng) -> Float[Tensor, ""]:
        """The loss to minimise."""
        return self.loss(model(batch).logits, labels, batch.candidates)


STANDARD = Training(
    "standard",
    lambda supervised, config, vocabulary: Supervised(supervised),
    source="Jain & Wallace 2019, appendix and published code",
)
