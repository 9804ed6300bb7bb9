"""The score step: all metrics of all explanations of one model, the masks pooled so that each text is asked once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier, predict, predicted_class
from faithboard.data import TaskData
from faithboard.data.collate import collate, rationale_mask
from faithboard.erasure import MaskCount, evaluate_masks
from faithboard.metric import ErasureMetric, Metric, Probe, ProbeContext, RationaleMetric
from faithboard.order import ranks, unordered
from faithboard.resolve import shortened
from faithboard.rng import Rng, seed_of
from faithboard.running.explaining import chunks
from faithboard.task import Example

M = TypeVar("M", bound=Metric)

VALUES = ("metric", "example", "value", "points")


@dataclass(frozen=True)
class ToScore:
    """One explanation whose metrics are missing."""

    scores: pd.DataFrame
    """Columns example, draw, scores: see `explaining.Explained`."""
    metrics: Sequence[Metric]


@dataclass(frozen=True)
class Scored:
    """Values of the missing metrics of one explanation."""

    values: pd.DataFrame
    """Columns metric, example, value (mean over draws; NaN where undefined), points."""
    excluded: Mapping[str, int]
    """metric -> examples left out for every method alike."""
    expectation: Mapping[str, float]
    """metric -> mean over examples of what a random order has in expectation, where there is one."""
    failed: Mapping[str, str]
    """metric -> why it failed: what the metric itself raised, on any explanation."""


def score_all(
    model: Classifier,
    data: TaskData,
    examples: Sequence[Example],
    wanted: Mapping[str, ToScore],
    seed: int,
    *,
    advance: Callable[[int], None],
    count: MaskCount,
) -> dict[str, Scored]:
    """Values of every explanation in `wanted` (by key). Random ties are broken the same way for all of them.

    `count` adds up the masked texts that were asked for and those that were evaluated.
    """
    by_example = {key: _by_example(one.scores) for key, one in wanted.items()}
    collected: dict[str, list[tuple[str, str, float, list[float]]]] = {key: [] for key in wanted}
    excluded: dict[str, dict[str, int]] = {key: {m.name: 0 for m in one.metrics} for key, one in wanted.items()}
    expected: dict[str, list[float]] = {}
    failed: dict[str, str] = {}
    for _, members in chunks(examples):
        chunk = _Chunk(model, data, members, seed, failed)
        orders = {key: chunk.orders(by_example[key]) for key in wanted}
        erased = chunk.erase({key: (orders[key], one.metrics) for key, one in wanted.items()}, count)
        for key, one in wanted.items():
            for metric in one.metrics:
                points = erased.get((key, metric.name))
                if isinstance(metric, RationaleMetric):
                    points = chunk.against_rationale(metric, orders[key])
                    expected.setdefault(metric.name, []).extend(chunk.expectation(metric))
                if points is None:
                    continue
                counted = chunk.counted(metric)
                excluded[key][metric.name] += int((~counted).sum())
                collected[key] += _rows(metric, chunk.batch.example_id, points, orders[key].constant, counted)
        advance(len(members))
    chance = {name: float(np.mean(found)) for name, values in expected.items() if (found := _defined(values))}
    return {
        key: Scored(pd.DataFrame(rows, columns=list(VALUES)), excluded[key], chance, failed)
        for key, rows in collected.items()
    }


def probe_all(
    model: Classifier,
    data: TaskData,
    examples: Sequence[Example],
    probes: Sequence[Probe],
    seed: int,
    *,
    advance: Callable[[int], None],
) -> pd.DataFrame:
    """Values of every column of every probe: columns metric (the name of the column), example, value, points."""
    rows: list[tuple[str, str, float, list[float]]] = []
    lengths = collate(examples, data.vocabulary, data.task).scorable_lengths.double()
    for _, members in chunks(examples):
        batch = collate(members, data.vocabulary, data.task, model.device)
        for probe in probes:
            context = ProbeContext(
                seed=seed,
                rng=Rng(seed_of("probe", probe.name, seed), batch),
                mean_length=float(lengths.mean()),
                answers_questions=data.task.layout == "pair",
            )
            found = probe.probe(model, batch, context).cpu()
            for column, point in enumerate(probe.points):
                values = zip(batch.example_id, found[:, column].tolist(), strict=True)
                rows += [(point, example, value, []) for example, value in values]
        advance(len(members))
    return pd.DataFrame(rows, columns=list(VALUES))


@dataclass(frozen=True)
class _Orders:
    """Ranks of one explanation's tokens, one tensor per draw, and the examples whose scores say nothing of order."""

    ranks: tuple[Tensor, ...]
    constant: tuple[Tensor, ...]


class _Chunk:
    """The examples of one chunk: what every explanation is scored on."""

    def __init__(
        self, model: Classifier, data: TaskData, members: Sequence[Example], seed: int, failed: dict[str, str]
    ) -> None:
        self.model = model
        self.failed = failed
        self.batch: Batch = collate(members, data.vocabulary, data.task, model.device)
        self.permutation = Rng(seed_of("ties", seed), self.batch).permutation()
        self.full = predict(model, self.batch)
        self.target = predicted_class(self.full)
        self.rationale = rationale_mask(members, self.batch)
        labels = torch.tensor([example.label for example in members], device=model.device)
        right = self.target == labels
        self.right = right if data.task.rationale == "planted" else torch.ones_like(right)

    def counted(self, metric: Metric) -> Tensor:
        """Examples that count: at least two tokens; on planted tasks only right predictions have a known truth."""
        several = self.batch.scorable_lengths >= 2
        return several & self.right if isinstance(metric, RationaleMetric) else several

    def orders(self, scores: Mapping[str, Sequence[np.ndarray]]) -> _Orders:
        draws = len(scores[self.batch.example_id[0]])
        dense = [self._dense([scores[name][draw] for name in self.batch.example_id]) for draw in range(draws)]
        return _Orders(
            tuple(ranks(one, self.batch, self.permutation) for one in dense),
            tuple(unordered(one, self.batch) for one in dense),
        )

    def erase(
        self, wanted: Mapping[str, tuple[_Orders, Sequence[Metric]]], count: MaskCount
    ) -> dict[tuple[str, str], list[Tensor]]:
        """Points of every erasure metric, per draw. All masks go to the model in one pool without duplicates."""
        asked: list[tuple[str, ErasureMetric]] = []
        masks: list[Tensor] = []
        for key, (orders, metrics) in wanted.items():
            for metric in metrics:
                if isinstance(metric, ErasureMetric):
                    own = self.asked(metric, lambda m, ranks: m.masks(ranks, self.batch.scorable), orders.ranks)
                    asked += [(key, metric)] * len(own)
                    masks += own
        found: dict[tuple[str, str], list[Tensor]] = {}
        if not masks:
            return found
        answers = evaluate_masks(self.model, self.batch, torch.cat(masks, 1), count=count)
        of_target = answers.gather(2, self.target[:, None, None].expand(-1, answers.shape[1], 1))[:, :, 0]
        full = self.full.gather(1, self.target[:, None])[:, 0]
        pieces = of_target.split([mask.shape[1] for mask in masks], 1)
        for (key, metric), piece in zip(asked, pieces, strict=True):
            for points in self.asked(metric, lambda m, answer: m.reduce(full, answer), [piece]):
                found.setdefault((key, metric.name), []).append(points)
        return found

    def against_rationale(self, metric: RationaleMetric, orders: _Orders) -> list[Tensor] | None:
        found = self.asked(metric, lambda m, r: m.score(r, self.rationale, self.batch.scorable)[:, None], orders.ranks)
        return found or None

    def expectation(self, metric: RationaleMetric) -> list[float]:
        """What a random order has in expectation on each counted example; empty for a metric that cannot say."""
        if metric.expectation is None:
            return []
        found: list[float] = metric.expectation(self.rationale, self.batch.scorable)[self.counted(metric)].tolist()
        return found

    def asked(self, metric: M, ask: Callable[[M, Tensor], Tensor], inputs: Sequence[Tensor]) -> list[Tensor]:
        """The metric's answers; none, and the reason noted, when it fails: a metric is anybody's code too."""
        if metric.name in self.failed:
            return []
        try:
            return [ask(metric, one) for one in inputs]
        except (Exception, SystemExit) as error:  # noqa: BLE001  whatever it raises is its own failure, the others go on
            self.failed[metric.name] = f"it raised\n{shortened(error)}"
            return []

    def _dense(self, scores: Sequence[np.ndarray]) -> Tensor:
        dense = torch.zeros(self.batch.ids.shape)
        scorable = self.batch.scorable.cpu()
        for row, values in enumerate(scores):
            dense[row, scorable[row]] = torch.from_numpy(np.array(values, dtype=np.float32))
        return dense.to(self.batch.device)


def _rows(
    metric: Metric,
    names: Sequence[str],
    points: Sequence[Tensor],
    constants: Sequence[Tensor],
    counted: Tensor,
) -> list[tuple[str, str, float, list[float]]]:
    """One row per counted example: its mean over draws; a draw whose scores say nothing of order is undefined."""
    stacked = torch.stack(list(points)).double()
    stacked = stacked.masked_fill(torch.stack(list(constants))[:, :, None], torch.nan)
    curve = stacked.nanmean(0).cpu()
    value = curve.mean(1)
    return [
        (metric.name, name, float(value[row]), curve[row].tolist() if isinstance(metric, ErasureMetric) else [])
        for row, name in enumerate(names)
        if bool(counted[row])
    ]


def _defined(values: Sequence[float]) -> list[float]:
    return [value for value in values if not np.isnan(value)]


def _by_example(scores: pd.DataFrame) -> dict[str, list[np.ndarray]]:
    return {str(name): list(group) for name, group in scores.sort_values("draw").groupby("example")["scores"]}
