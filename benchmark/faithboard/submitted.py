"""A model that a person brings: a function that makes a `Classifier` for a task, or a finished `Classifier`.

The smallest submission builds a network over the words of the task and trains it:

    @model("bag-of-words", capabilities={"gradients"})
    def bag_of_words(data):
        network = BagOfWords(len(data.words), data.specials, data.n_classes)
        if not data.stored:
            fit(network, data)
        return network

Weights are stored with the results. When they are needed again the function is called with `data.stored` True and they
are loaded into what it returns, so that it may leave out training; what it does then to the weights is overwritten.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import torch

from faithboard.batch import Batch, Specials
from faithboard.classifier import Classifier
from faithboard.data.encoded import Encoded
from faithboard.data.vocabulary import Vocabulary
from faithboard.errors import ContractError
from faithboard.rng import seed_of
from faithboard.task import Example, Task
from faithboard.training.batches import shuffled

if TYPE_CHECKING:
    from jaxtyping import Int
    from torch import Tensor

    from faithboard.data import TaskData

CAPABILITIES = frozenset({"gradients", "attention", "decode", "rules"})
"""What a submission can say of its model; `several-classes` follows from the task."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*")


@dataclass(frozen=True, eq=False)
class TaskTexts:
    """What a submitted model may know of a task: how its ids read, and the texts to learn from. No test text."""

    task: Task
    """Its `layout` says what a batch holds: one text, two wrapped ones, or `text <sep> query <sep>`."""
    vocabulary: Vocabulary
    splits: Mapping[str, Sequence[Example]]
    """The train and dev splits, as words."""
    seed: int
    device: torch.device
    """Where the model will run. It may be returned on any device."""
    stored: bool = False
    """True when stored weights will be loaded into what is returned: there is no need to train."""

    @classmethod
    def of(cls, data: TaskData, seed: int, device: torch.device, *, stored: bool = False) -> Self:
        """What may be known of `data`."""
        splits = {split: data.splits[split] for split in ("train", "dev")}
        return cls(data.task, data.vocabulary, splits, seed, device, stored)

    @property
    def n_classes(self) -> int:
        """Classes, in the order of `task.labels`."""
        return len(self.task.labels)

    @property
    def words(self) -> tuple[str, ...]:
        """The word of each id; the special tokens are among them."""
        return self.vocabulary.words

    @property
    def specials(self) -> Specials:
        return self.vocabulary.specials

    @cached_property
    def train(self) -> Encoded:
        """The training texts: `train.batch(rows)` is a `Batch`, `train.labels[rows]` its classes."""
        return Encoded.of(self.splits["train"], self.vocabulary, self.task)

    @cached_property
    def dev(self) -> Encoded:
        """The texts that choose between epochs."""
        return Encoded.of(self.splits["dev"], self.vocabulary, self.task)

    def batches(self, size: int, epoch: int = 0) -> Iterator[tuple[Batch, Int[Tensor, "batch"]]]:
        """Every training text once with its class, in random batches that `seed` and `epoch` decide, on the device."""
        order = torch.Generator().manual_seed(seed_of(self.seed, "order", epoch))
        for rows in shuffled(self.train.lengths, size, order):
            yield self.train.batch(rows).to(self.device), self.train.labels[rows].to(self.device)


@dataclass(frozen=True)
class ModelDefinition:
    """A model of a person's own, by name. It stands in plans, runs and leaderboards like a reference model."""

    name: str
    build: Callable[[TaskTexts], Classifier]
    capabilities: frozenset[str]
    """What its models can do; see `Classifier.capabilities`. They are told before anything is built."""
    source: str = ""
    """Where it comes from, for people."""
    files: tuple[str, ...] = ()
    """Files that it reads, relative to its own: their content is part of what it is."""
    trains: bool = True
    """False for a finished model, which costs nothing to make."""

    def able(self, n_classes: int) -> frozenset[str]:
        """What a model of it can do on a task of `n_classes` classes."""
        return self.capabilities | ({"several-classes"} if n_classes > 2 else set())


def model(
    name: str, *, capabilities: Iterable[str], source: str = "", files: Iterable[str] = ()
) -> Callable[[Callable[[TaskTexts], Classifier]], ModelDefinition]:
    """Turn `(data) -> Classifier` into a model of its own. See `ModelDefinition` for the arguments.

    The function is called once per task and seed, torch's random state being seeded; it builds or loads the model and
    may train it on `data.train`. Raises ContractError for a capability that there is not.
    """
    able = frozenset(capabilities) - {"several-classes"}
    if unknown := able - CAPABILITIES:
        raise ContractError(f"model {name}: unknown capability {sorted(unknown)}; there are {sorted(CAPABILITIES)}")
    if not _NAME.fullmatch(name):
        raise ContractError(f"model {name!r}: a name is made of [a-z0-9_.-] and begins with a letter or digit")

    def decorate(build: Callable[[TaskTexts], Classifier]) -> ModelDefinition:
        return ModelDefinition(name, build, able, source, tuple(files))

    return decorate


def finished(attribute: str, classifier: Classifier) -> ModelDefinition:
    """The definition of a `Classifier` that is made already, called by the attribute it was found under."""
    name = re.sub(r"[^a-z0-9.-]+", "-", attribute.lower()).strip("-.")
    able = frozenset(classifier.capabilities) - {"several-classes"}
    return ModelDefinition(name or "model", _Copies(classifier), able, trains=False)


@dataclass(frozen=True)
class _Copies:
    """Hands out copies, so that what happens to a model in a run does not reach the one of the file."""

    classifier: Classifier

    def __call__(self, data: TaskTexts) -> Classifier:
        return copy.deepcopy(self.classifier)
