"""ROAR: words are removed by a method's order, and models of the same settings are trained on what is left.

A stage is named by the shares at which an order was asked for: at (10, 30) a tenth was removed by the job's own model
and more, up to 30 %, by the model that was trained on the rest. What came of each stage is kept until the rows of the
explanation are stored, so a run that was killed repeats none; within one, a training goes on after its last epoch and
an explanation after its last chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from faithboard.attribution import Method
from faithboard.background import Background
from faithboard.classifier import Classifier
from faithboard.config import ModelConfig
from faithboard.data import TaskData
from faithboard.data.collate import collate
from faithboard.data.removal import bin_size, scorable_length, without
from faithboard.errors import ContractError, FaithboardError, StoreError
from faithboard.metric import RetrainMetric
from faithboard.order import ranks, unordered
from faithboard.performance import probabilities
from faithboard.plan import PlannedJob
from faithboard.rng import Rng, seed_of
from faithboard.running.copies import copied
from faithboard.running.explaining import explain_all
from faithboard.running.fitting import fresh_model
from faithboard.running.progress import Progress
from faithboard.running.read import Read, dense
from faithboard.running.scoring import VALUES, Scored
from faithboard.stages import Stages
from faithboard.task import SPLITS, Example
from faithboard.training import train

if TYPE_CHECKING:
    from jaxtyping import Bool

T = TypeVar("T")
Path = tuple[int, ...]
"""Name of a stage: the shares, in per cent, at which an order was asked for; empty for the texts as they are."""
_AT_ONCE = 512
"""Texts whose words are put in order together."""


@dataclass(frozen=True)
class Stage:
    """Texts with words removed, the model that was trained on them, and what it makes of the test texts."""

    removed: Bool[Tensor, "word"]
    """For the scorable words of all texts, one text after the other."""
    weights: Mapping[str, Tensor]
    right: Bool[Tensor, "test"]
    """Whether the gold label is given."""
    unordered: Bool[Tensor, "test"]
    """Whether an order was asked for here and the scores gave none."""


@dataclass(frozen=True)
class Retraining:
    """Stages of one method on the model of one job."""

    job: PlannedJob
    model: Classifier
    """Of the job, trained on whole texts."""
    method: Method
    stages: Stages
    progress: Progress

    def scored(self, metric: RetrainMetric) -> Scored:
        """Values of `metric` on the examples of the job; all points are NaN where the whole text was given no order.

        Raises FaithboardError when a training fails; what the method raises passes.
        """
        if known := sum(self.stages.finished(_name(path)) for path in metric.paths):
            title = f"{metric.name} of {self.method.name} on {self.job.title}"
            self.progress.say(f"{title}: {known} of {len(metric.paths)} stages are done already")
        right, lost = [], torch.zeros(len(self.job.prepared.examples), dtype=torch.bool)
        for path in metric.paths:
            stage = self.stage(path)
            right.append(stage.right)
            # Later on, words that a retrained model cannot tell apart are tied: it has nothing left to tell.
            lost |= stage.unordered & (len(path) == 1)
        points = torch.stack(right, 1).double().masked_fill(lost[:, None], torch.nan)
        rows = [
            (metric.name, example.id, float(curve.mean()), curve.tolist())
            for example, curve in zip(self.job.prepared.examples, points, strict=True)
            if scorable_length(example, self.job.prepared.task) >= 2
        ]
        frame = pd.DataFrame(rows, columns=list(VALUES))
        return Scored(frame, {metric.name: len(points) - len(rows)})

    def stage(self, path: Path) -> Stage:
        """The stage `path`, computed if it is not kept."""
        if not path:
            nothing, no = torch.zeros(sum(self._lengths), dtype=torch.bool), torch.zeros(0, dtype=torch.bool)
            return Stage(nothing, self.model.state_dict(), no, no)
        if (known := self._kept(lambda: self.stages.result(_name(path)))) is not None:
            return Stage(**known)
        removed, lost = self._further(path)
        data = self._data(removed)
        model = self._trained(self.job, data, path)
        test = data.splits["test"]
        answers = probabilities(model, test, data, model.device).argmax(1)
        stage = Stage(
            removed=removed,
            weights={name: value.detach().cpu() for name, value in model.state_dict().items()},
            right=torch.from_numpy(answers == np.array([example.label for example in test])),
            unordered=lost[len(lost) - len(test) :],
        )
        self.stages.save_result(_name(path), vars(stage))
        self.progress.say(f"{self._title(path)}: {float(stage.right.double().mean()):.3f} of the examples are right")
        return stage

    def _further(self, path: Path) -> tuple[Bool[Tensor, "word"], Bool[Tensor, "text"]]:
        """What is removed up to the last share of `path`, and of which texts the scores gave no order for it."""
        before = self.stage(path[:-1])
        scores = self._scores(path[:-1], before)
        task, vocabulary = self.job.prepared.task, self.job.prepared.data.vocabulary
        removed, lost = [], []
        gone = iter(before.removed.split(self._lengths))
        for start in range(0, len(self._texts), _AT_ONCE):
            texts = self._texts[start : start + _AT_ONCE]
            batch = collate(texts, vocabulary, task)
            # Of the whole texts, so that ties fall as they do in every other metric.
            permutation = Rng(seed_of("ties", self.job.seed), batch).permutation()
            taken = torch.zeros_like(batch.scorable)
            taken[batch.scorable] = torch.cat(list(islice(gone, len(texts))))
            left = replace(batch, scorable=batch.scorable & ~taken)
            wanted = [bin_size(length, path[-1]) for length in batch.scorable_lengths.tolist()]
            more = torch.tensor(wanted) - taken.sum(1)
            counts = left.scorable_lengths.tolist()
            own = [scores.get(one.id, np.zeros(n)) for one, n in zip(texts, counts, strict=True)]
            # By size: where what speaks for a class is gone and what speaks against it is left, that tells the class.
            of_left = dense(own, left).abs()
            drop = left.scorable & (ranks(of_left, left, permutation) < more[:, None])
            removed.append((taken | drop)[batch.scorable])
            lost.append(unordered(of_left, left) & (more > 0) & (more < left.scorable_lengths))
        found = torch.cat(lost)
        if count := int(found.sum()):
            of = f"{count:,} of {len(found):,} texts"
            self.progress.say(f"{self._title(path)}: the scores of {of} give no order, a random one stands in")
        return torch.cat(removed), found

    def _scores(self, path: Path, stage: Stage) -> Mapping[str, np.ndarray]:
        """Scores of what is left of each text at a stage, by its model; without texts of fewer than two words."""
        data = self._data(stage.removed)
        every = [example for split in SPLITS for example in data.splits[split]]
        several = [example for example in every if scorable_length(example, data.task) >= 2]
        if not several:
            return {}
        method = replace(self.method, draws=1)
        if "background" in method.needs:
            method = method.given(Background.of(data))
        model = copied(self.model)
        model.load_state_dict(stage.weights)
        with self.progress.bar(f"explain all texts: {self._title(path)}", len(several)) as advance:
            found = explain_all(
                model,
                method,
                data,
                several,
                # The words left would be given the numbers that have chosen among all of them.
                seed_of("retrained", self.job.seed, *path) if path else self.job.seed,
                load_part=lambda number: self._kept(lambda: self.stages.part(_name(path), number)),
                save_part=lambda number, part: self.stages.save_part(_name(path), number, part),
                advance=advance,
            )
        return {name: draws[0] for name, draws in Read.of(found.scores).scores.items()}

    def _trained(self, job: PlannedJob, data: TaskData, path: Path) -> Classifier:
        """A fresh model of a job, trained on `data`; before it, where it goes on from another, that one is too."""
        name = f"{_name(path)}.{job.training.procedure}"
        model = copied(self._fresh) if job.start is None else self._trained(job.start, data, path)
        try:
            resume = self.stages.checkpoint(name)
        except StoreError as error:
            self.progress.say(f"{error}; training from the beginning: {self._title(path)}")
            resume = None
        with self.progress.bar(f"train {job.training.procedure}: {self._title(path)}", job.training.epochs) as advance:
            advance(len(resume["history"]) if resume else 0)
            try:
                train(
                    model,
                    data,
                    job.training,
                    job.seed,
                    job.procedure,
                    resume=resume,
                    save=lambda state: self.stages.save_checkpoint(name, state),
                    progress=lambda epoch, epochs, entry: advance(1),
                )
            except StoreError:
                raise
            except FaithboardError as error:
                raise FaithboardError(f"training without {path[-1]} % of the words: {error}") from error
        return model

    def _kept(self, read: Callable[[], T | None]) -> T | None:
        """What is kept of a stage; None, and said, when it is damaged."""
        try:
            return read()
        except StoreError as error:
            self.progress.say(f"{error}; computing it again")
            return None

    def _data(self, removed: Bool[Tensor, "word"]) -> TaskData:
        """The data with the explained test texts alone, and of all texts what is left."""
        data = self.job.prepared.data
        flags = (gone.tolist() for gone in removed.split(self._lengths))
        left = iter([without(example, gone, data.task) for example, gone in zip(self._texts, flags, strict=True)])
        return replace(data, splits={split: list(islice(left, len(self._splits[split]))) for split in SPLITS})

    def _title(self, path: Path) -> str:
        share = f"without {path[-1]} %" if path else "whole"
        return f"{self.method.name} on {self.job.title}, {share}"

    @cached_property
    def _splits(self) -> Mapping[str, Sequence[Example]]:
        prepared = self.job.prepared
        return {**prepared.data.splits, "test": prepared.examples}

    @cached_property
    def _texts(self) -> list[Example]:
        return [example for split in SPLITS for example in self._splits[split]]

    @cached_property
    def _lengths(self) -> list[int]:
        """T of every text."""
        return [scorable_length(example, self.job.prepared.task) for example in self._texts]

    @cached_property
    def _fresh(self) -> Classifier:
        """The model before it is trained, its vectors those of the whole texts; the same at every stage."""
        if not isinstance(self.job.model, ModelConfig):
            raise ContractError(f"{self.job.model.name} is trained by its own file and cannot be trained anew")
        return fresh_model(self.job.model, self.job.prepared.data, self.job.seed)[0].to(self.model.device)


def _name(path: Path) -> str:
    return "-".join(map(str, path)) or "whole"
