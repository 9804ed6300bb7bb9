"""The models behind the numbers: how good and how sure they are, when they stopped, and which of them are missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from faithboard.published import saliency_guided
from faithboard.report.layout import reservations
from faithboard.reproduction.estimates import seeds_agreeing, spread_over_seeds
from faithboard.reproduction.saliency_guided.comparing import (
    METHODS,
    METRICS,
    NORMALISED,
    PAIRS,
    RANDOM,
    accuracy_verdict,
)
from faithboard.reproduction.saliency_guided.lines import AccuracyLine, MissingLine, ModelLine
from faithboard.reproduction.saliency_guided.measured import Measured
from faithboard.reproduction.saliency_guided.values import comparable
from faithboard.stats import resampling
from faithboard.stats.tables import table_of

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy import ndarray

    from faithboard.results import Results
    from faithboard.suites import Suite


def model_line(one: Measured, results: Results) -> ModelLine:
    """What stands beside the numbers of one training."""
    table = table_of(results.suite, results.version, one.seeds, one.records, ())
    config: Mapping[str, Any] = table.config
    return ModelLine(
        task=one.task,
        model=one.model,
        training=one.training,
        seeds=list(one.seeds),
        gate_passed=table.gate_passed,
        reason=table.reason,
        examples=len(one.examples),
        accuracy=[resampling.rounded(record.performance["accuracy"]) for record in one.records],
        confidence=[resampling.rounded_or_none(value) for value in one.confidence],
        best_epochs=[record.provenance.get("best_epoch") for record in one.records],
        epochs=int(config.get("epochs", 0)),
        select=str(config.get("select", "")),
        masking=_masking(config),
        vectors=table.vectors,
        training_rows=int(table.data.get("splits", {}).get("train", {}).get("used", 0)),
        reservations=reservations(table),
    )


def accuracy_lines(group: Sequence[Measured], predictions: pd.DataFrame) -> list[AccuracyLine]:
    """Every pair of trainings of one task and model. `predictions` are those of `Results`."""
    of = {one.training: one for one in group}
    right = {str(key): lines.set_index("example")["right"] for key, lines in predictions.groupby("model_key")}
    return [
        line
        for a, b in PAIRS
        if a in of and b in of and comparable(of[a], of[b])
        for line in _accuracy(of[a], of[b], right)
    ]


def missing_lines(groups: Sequence[Sequence[Measured]], suite: Suite) -> list[MissingLine]:
    """What the suite asks for and is not stored: tasks of the paper, trainings, seeds, methods; and trainings that
    cannot be compared."""
    there = {one.task for group in groups for one in group}
    tasks = dict.fromkeys(task for task, *_ in saliency_guided())
    found = [MissingLine(task, f"nothing is stored of {task}") for task in tasks if task not in there]
    return found + [line for group in groups for line in _missing(group, suite)]


def _masking(config: Mapping[str, Any]) -> str:
    if "mask_share" not in config:
        return ""
    return f"k = {config['mask_share']:g}, fill {config['mask_fill']}, lambda = {config['mask_weight']:g}"


def _accuracy(a: Measured, b: Measured, right: Mapping[str, pd.Series[float]]) -> Iterator[AccuracyLine]:
    seeds = [seed for seed in a.seeds if seed in b.seeds]
    own, others = ({record.seed: record for record in one.records} for one in (a, b))
    seeds = [seed for seed in seeds if own[seed].key in right and others[seed].key in right]
    if not seeds:
        return
    order = right[own[seeds[0]].key].index
    columns = [(right[own[seed].key] - right[others[seed].key]).reindex(order).to_numpy(dtype=float) for seed in seeds]
    difference: Float[ndarray, "example seed"] = np.stack(columns, 1)
    mean = difference.mean(1)
    low, high = (float(bound[0]) for bound in resampling.interval(resampling.bootstrap_mean_of_few(mean)))
    sure = _of_seeds(a, seeds) - _of_seeds(b, seeds)
    agreeing = seeds_agreeing(difference, resampling.rounded(mean.mean()))
    yield AccuracyLine(
        task=a.task,
        model=a.model,
        a=a.training,
        b=b.training,
        seeds=seeds,
        n=len(mean),
        value=resampling.rounded(mean.mean()),
        low=resampling.rounded(low),
        high=resampling.rounded(high),
        seed_spread=spread_over_seeds(difference),
        agreeing=agreeing,
        verdict=accuracy_verdict(low, high, in_every_seed=agreeing == len(seeds)),
        confidence=resampling.rounded_or_none(resampling.mean_defined(sure, 0)),
        confidence_spread=spread_over_seeds(sure[None]),
    )


def _of_seeds(one: Measured, seeds: Sequence[int]) -> Float[ndarray, "seed"]:
    return one.confidence[[one.seeds.index(seed) for seed in seeds]]


def _missing(group: Sequence[Measured], suite: Suite) -> Iterator[MissingLine]:
    task, model = group[0].task, group[0].model
    of = {one.training: one for one in group}
    for training in suite.trainings:
        place = f"{task}, {model}, {training}"
        if training not in of:
            yield MissingLine(task, f"{place}: no trained model")
            continue
        absent = [seed for seed in suite.seeds if seed not in of[training].seeds]
        if absent:
            yield MissingLine(task, f"{place}: no trained model for {_seeds(absent)}")
        yield from _unscored(of[training], suite, place)
    for a, b in PAIRS:
        if a in of and b in of and not comparable(of[a], of[b]):
            yield MissingLine(task, f"{task}, {model}: {a} and {b} were trained on different data and are not compared")


def _unscored(one: Measured, suite: Suite, place: str) -> Iterator[MissingLine]:
    """Methods without a value in some seed that has a model."""
    methods = [method for method in (*METHODS, RANDOM) if method in suite.methods]
    # Normalised values are of short texts alone: that there are none is no gap.
    metrics = [name for name, (_, profile) in METRICS.items() if name in suite.metrics and profile != NORMALISED]
    for seed in one.seeds:
        lacking = [method for method in methods if any(seed not in one.scored((method, metric)) for metric in metrics)]
        if lacking:
            yield MissingLine(one.task, f"{place}: not scored for seed {seed}: {', '.join(lacking)}")


def _seeds(seeds: Sequence[int]) -> str:
    return f"seed {', '.join(map(str, seeds))}"
