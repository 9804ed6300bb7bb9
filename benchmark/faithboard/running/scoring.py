"""The score step: all metrics of all explanations of one model, the masks pooled so that each text is asked once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier, predict, predicted_class
from faithboard.data import TaskData
from faithboard.data.collate import collate, rationale_mask
from faithboard.erasure import MaskCount, evaluate_masks
from faithboard.metric import ErasureMetric, Metric, Probe, RationaleMetric
from faithboard.order import ranks, unordered
from faithboard.rng import Rng, seed_of
from faithboard.running.explaining import chunks
from faithboard.task import Example

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
    """metric -> mean over examples of what a random order has in expectation."""


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
    for _, members in chunks(examples):
        chunk = _Chunk(model, data, members, seed)
        orders = {key: chunk.orders(by_example[key]) for key in wanted}
        erased = chunk.erase({key: (orders[key], one.metrics) for key, one in wanted.items()}, count)
        for key, one in wanted.items():
            for metric in one.metrics:
                if isinstance(metric, ErasureMetric):
                    points = erased[key, metric.name]
                elif isinstance(metric, RationaleMetric):
                    points = chunk.against_rationale(metric, orders[key])
                    if metric.expectation is not None:
                        chance = metric.expectation(chunk.rationale, chunk.batch.scorable)
                        expected.setdefault(f"{key}/{metric.name}", []).extend(chance[chunk.counted(metric)].tolist())
                else:
                    raise TypeError(f"{metric.name} is not a metric of an explanation")
                counted = chunk.counted(metric)
                excluded[key][metric.name] += int((~counted).sum())
                collected[key] += _rows(metric, chunk.batch.example_id, points, orders[key].constant, counted)
        advance(len(members))
    return {
        key: Scored(
            pd.DataFrame(rows, columns=list(VALUES)),
            excluded[key],
            {
                m.name: float(np.nanmean(expected[f"{key}/{m.name}"]))
                for m in wanted[key].metrics
                if expected.get(f"{key}/{m.name}")
            },
        )
        for key, rows in collected.items()
    }


def probe_all(
    model: Classifier,
    data: TaskData,
    examples: Sequence[Example],
    probes: Sequence[Probe],
    *,
    advance: Callable[[int], None],
) -> pd.DataFrame:
    """Values of every column of every probe: columns metric (the name of the column), example, value, points."""
    rows: list[tuple[str, str, float, list[float]]] = []
    for _, members in chunks(examples):
        batch = collate(members, data.vocabulary, data.task, model.device)
        for probe in probes:
            found = probe.probe(model, batch).cpu()
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

    def __init__(self, model: Classifier, data: TaskData, members: Sequence[Example], seed: int) -> None:
        self.model = model
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
                    for order in orders.ranks:
                        asked.append((key, metric))
                        masks.append(metric.masks(order, self.batch.scorable))
        found: dict[tuple[str, str], list[Tensor]] = {}
        if not masks:
            return found
        answers = evaluate_masks(self.model, self.batch, torch.cat(masks, 1), count=count)
        of_target = answers.gather(2, self.target[:, None, None].expand(-1, answers.shape[1], 1))[:, :, 0]
        full = self.full.gather(1, self.target[:, None])[:, 0]
        pieces = of_target.split([mask.shape[1] for mask in masks], 1)
        for (key, metric), piece in zip(asked, pieces, strict=True):
            found.setdefault((key, metric.name), []).append(metric.reduce(full, piece))
        return found

    def against_rationale(self, metric: RationaleMetric, orders: _Orders) -> list[Tensor]:
        return [metric.score(order, self.rationale, self.batch.scorable)[:, None] for order in orders.ranks]

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


def _by_example(scores: pd.DataFrame) -> dict[str, list[np.ndarray]]:
    return {str(name): list(group) for name, group in scores.sort_values("draw").groupby("example")["scores"]}
