"""A job on a tiny task whose class is told by one planted word, to be trained anew in a fraction of a second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from faithboard import Batch, Classifier, Method, Rng, method
from faithboard.config import ModelConfig, TrainingConfig
from faithboard.data.removal import scorable_length
from faithboard.metric import RetrainMetric
from faithboard.plan import PlannedJob, Prepared
from faithboard.running.fitting import fresh_model
from faithboard.running.progress import Progress
from faithboard.running.retraining import Retraining
from faithboard.stages import Stages
from faithboard.task import Example
from faithboard.training import STANDARD, train
from tests.training.tiny import FILLER, PLANTED, examples
from tests.training.tiny import tiny as data_of

MODEL = ModelConfig(hidden=6, embedding_dim=12)
TRAINING = TrainingConfig(epochs=4, learning_rate=0.03, select="accuracy", batch_size=16)
TWO = RetrainMetric("two", 1, "lower", "a test", shares=(30, 70), recursive=False)
"""Shares few enough for a test."""
TWO_RECURSIVE = replace(TWO, name="two-recursive", recursive=True)


class Told(Progress):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


def planned(texts: Sequence[Example] | None = None, **changes: Any) -> PlannedJob:
    """A job on the tiny task; `texts` stand in for its test texts and, where they are few, for all."""
    splits = {name: examples(name, count) for name, count in (("train", 128), ("dev", 32), ("test", 40))}
    if texts is not None:
        splits = {name: [replace(one, id=f"{name}-{one.id}") for one in texts] for name in splits}
    data = data_of(splits=splits)
    lengths = [scorable_length(example, data.task) for example in splits["test"]]
    job = PlannedJob("job", Prepared(data, splits["test"], lengths), MODEL, TRAINING, 0, "train", "", 0.0, STANDARD)
    return replace(job, **changes)


@cache
def trained() -> tuple[PlannedJob, Classifier]:
    """The job with its model. Tests only read them."""
    job = planned()
    return job, fitted(job)


def fitted(job: PlannedJob) -> Classifier:
    assert isinstance(job.model, ModelConfig)
    model, _ = fresh_model(job.model, job.prepared.data, job.seed)
    train(model, job.prepared.data, job.training, job.seed, job.procedure)
    return model


def retraining(
    folder: Path, one: Method, job: PlannedJob | None = None, model: Classifier | None = None, told: Told | None = None
) -> Retraining:
    """Retraining of the tiny job, or of `job` with `model`."""
    known, of_known = trained()
    return Retraining(job or known, model or of_known, one, Stages(folder), told or Told())


def by_word(name: str, scores: dict[str, float]) -> Method:
    """A method that gives each word a number of its own, 0 unless it is named."""
    vocabulary = data_of(splits={}).vocabulary
    table = torch.zeros(len(vocabulary))
    for word, score in scores.items():
        table[vocabulary.id(word)] = score

    @method(name, kind="contribution", signed=True, source="a test")
    def explain(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
        return table[batch.ids]

    return explain


IDEAL = by_word("ideal", {word: 1.0 for words in PLANTED.values() for word in words})
"""Puts the planted word first."""
REVERSE = by_word("reverse", dict.fromkeys(FILLER, 1.0))
ALPHABET = by_word("alphabet", {word: float(len(FILLER) - at) for at, word in enumerate(FILLER)})
"""Puts a first, then b, and so on; the planted words last, tied."""
