"""The score step: all metrics of all explanations of one model, the masks pooled so that each text is asked once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from torch import Tensor

from faithboard.classifier import Classifier
from faithboard.data import TaskData
from faithboard.data.collate import collate
from faithboard.erasure import MaskCount
from faithboard.metric import AmountMetric, ErasureMetric, Metric, Probe, ProbeContext, RationaleMetric, RunsMethods
from faithboard.rng import Rng, seed_of
from faithboard.running.chunk import Chunk
from faithboard.running.explaining import chunks
from faithboard.running.read import Read
from faithboard.task import Example

VALUES = ("metric", "example", "value", "points")

_FLAGS = 2**27
"""Mask entries that are pooled at once at most: of long texts fewer examples at a time are scored."""


@dataclass(frozen=True)
class ToScore:
    """One explanation whose metrics are missing."""

    scores: pd.DataFrame
    """Columns example, draw, scores, total: see `explaining.Explained`."""
    metrics: Sequence[Metric]


@dataclass(frozen=True)
class Scored:
    """Values of the missing metrics of one explanation."""

    values: pd.DataFrame
    """Columns metric, example, value (mean over draws; NaN where undefined), points."""
    excluded: Mapping[str, int] = field(default_factory=dict)
    """metric -> examples left out for every method alike."""
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """metric -> what holds for some of the examples, in words -> for how many."""
    expectation: Mapping[str, float] = field(default_factory=dict)
    """metric -> mean over examples of what a random order has in expectation, where there is one."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """metric -> why it failed: what the metric itself raised, on any explanation."""
    unsupported: Mapping[str, str] = field(default_factory=dict)
    """metric -> why the method cannot have it."""


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
    """Values of every explanation in `wanted` (by key), but for metrics that run its method (`RunsMethods`).

    Random ties are broken the same way for all of them. `count` adds up the masked texts that were asked for and those
    that were evaluated.
    """
    reads = {key: Read.of(one.scores) for key, one in wanted.items()}
    asked: dict[str, list[Metric]] = {key: [] for key in wanted}
    unsupported: dict[str, dict[str, str]] = {key: {} for key in wanted}
    for key, one in wanted.items():
        for metric in one.metrics:
            if isinstance(metric, AmountMetric) and metric.promised and not reads[key].promises:
                unsupported[key][metric.name] = "not promised: its scores need not sum to anything"
            elif not isinstance(metric, RunsMethods):
                asked[key].append(metric)
    collected = {key: _Collected() for key in wanted}
    expected: dict[str, list[float]] = defaultdict(list)
    failed: dict[str, str] = {}
    start = 0
    for members in _pieces(examples, reads, asked):
        chunk = Chunk(model, data, members, seed, failed, count, start)
        start += len(members)
        answers = chunk.answers({key: (reads[key], metrics) for key, metrics in asked.items()})
        for key, metrics in asked.items():
            for metric in metrics:
                if isinstance(metric, RationaleMetric):
                    expected[metric.name] += chunk.expectation(metric)
                if (key, metric.name) in answers:
                    collected[key].add(metric, chunk, answers[key, metric.name])
        advance(len(members))
    chance = {name: float(np.mean(found)) for name, values in expected.items() if (found := _defined(values))}
    return {key: one.scored(chance, failed, unsupported[key]) for key, one in collected.items()}


class _Collected:
    """Values of one explanation, piece by piece."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, float, list[float]]] = []
        self.excluded: dict[str, int] = defaultdict(int)
        self.counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))

    def add(self, metric: Metric, chunk: Chunk, draws: Tensor) -> None:
        """`draws` is `[draw, batch, point]`: one row per counted example, with the mean over its defined draws."""
        counted = chunk.counted(metric)
        self.excluded[metric.name] += int((~counted).sum())
        for words, number in chunk.counts(metric).items():
            self.counts[metric.name][words] += number
        curve = draws.nanmean(0).cpu()
        value, points = curve[:, 0], False
        if isinstance(metric, ErasureMetric):
            value, points = metric.value(curve), bool(metric.points)
        self.rows += [
            (metric.name, name, float(value[row]), curve[row].tolist() if points else [])
            for row, name in enumerate(chunk.batch.example_id)
            if bool(counted[row])
        ]

    def scored(self, chance: Mapping[str, float], failed: Mapping[str, str], unsupported: Mapping[str, str]) -> Scored:
        frame = pd.DataFrame(self.rows, columns=list(VALUES))
        return Scored(frame, self.excluded, self.counts, chance, failed, unsupported)


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


def _pieces(
    examples: Sequence[Example], reads: Mapping[str, Read], asked: Mapping[str, Sequence[Metric]]
) -> Iterator[Sequence[Example]]:
    """The examples in the order of their chunks, so many at a time that their pooled masks fit into memory."""
    for _, members in chunks(examples):
        length = max(len(example.tokens) + len(example.query) for example in members)
        masks = sum(m.masks_asked(length) * reads[key].draws for key, metrics in asked.items() for m in metrics)
        masks += max((m.subsets for own in asked.values() for m in own if isinstance(m, AmountMetric)), default=0)
        rows = max(1, _FLAGS // max(1, masks * (length + 4)))
        yield from (members[start : start + rows] for start in range(0, len(members), rows))


def _defined(values: Sequence[float]) -> list[float]:
    return [value for value in values if not np.isnan(value)]
