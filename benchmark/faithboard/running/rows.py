"""From values per example to the stored rows: one metric on one explanation, with its interval and its counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from faithboard.keys import row_key
from faithboard.metric import AmountMetric, ErasureMetric, Metric, Probe, RationaleMetric, RerunMetric, RetrainMetric
from faithboard.records import Row, Status
from faithboard.running.scoring import Scored
from faithboard.stats import bootstrap_means, bootstrap_medians, interval

TAIL = 95
"""Percentile beside a median."""


def metric_row(explanation: str, metric: Metric, scored: Scored, seed: int) -> Row:
    """The row of `metric`; `explanation` is the key, `seed` that of the bootstrap."""
    for status, reasons in (("failed", scored.failed), ("unsupported", scored.unsupported)):
        if metric.name in reasons:
            return row_without_value(explanation, metric, status, reasons[metric.name])  # type: ignore[arg-type]
    values = scored.values[scored.values["metric"] == metric.name]
    row = _row(explanation, metric, metric.name, values["value"], seed)
    row = replace(
        row,
        excluded=scored.excluded.get(metric.name, 0),
        counts={words: count for words, count in scored.counts.get(metric.name, {}).items() if count},
        expectation=scored.expectation.get(metric.name),
    )
    if isinstance(metric, ErasureMetric | RerunMetric | RetrainMetric) and metric.points:
        return _with_curve(row, metric.points, values["points"], seed)
    if row.statistic == "median" and row.value is not None:
        tail = float(np.percentile(values["value"].dropna(), TAIL))
        return replace(row, points=["median", f"{TAIL}th percentile"], curve=[row.value, tail])
    return row


def row_without_value(explanation: str, metric: Metric, status: Status, reason: str) -> Row:
    """The row of a metric that failed, is refused or makes no sense for the method."""
    return replace(_row(explanation, metric, metric.name, pd.Series(dtype=float), 0), status=status, reason=reason)


def probe_rows(explanation: str, probe: Probe, values: pd.DataFrame, seed: int) -> list[Row]:
    """One row per column of a probe; they share the key of the probe."""
    return [_row(explanation, probe, point, values[values["metric"] == point]["value"], seed) for point in probe.points]


def _with_curve(row: Row, points: tuple[str, ...], curves: pd.Series, seed: int) -> Row:
    """The row with mean and interval of each point over the examples; names alone where no example has a value.

    Points that no example has a value of, as layers that a model lacks, are left out.
    """
    table = np.array(curves.tolist(), dtype=float).reshape(len(curves), len(points))
    table = table[np.isfinite(table).any(1)]
    if not len(table):
        return replace(row, points=list(points))
    known = np.isfinite(table).any(0)
    table, points = table[:, known], tuple(np.array(points)[known].tolist())
    low, high = interval(bootstrap_means(table, seed=seed))
    mean = np.nanmean(table, axis=0)
    return replace(row, points=list(points), curve=mean.tolist(), curve_low=low.tolist(), curve_high=high.tolist())


def _row(explanation: str, metric: Metric, name: str, values: pd.Series, seed: int) -> Row:
    defined = values.dropna().to_numpy()
    median = isinstance(metric, AmountMetric) and metric.statistic == "median"
    resample = bootstrap_medians if median else bootstrap_means
    low, high = interval(resample(defined[:, None], seed=seed)) if len(defined) else (None, None)
    middle = np.median if median else np.mean
    return Row(
        key=row_key(explanation, metric),
        metric=name,
        metric_version=metric.version,
        parameters=dict(metric.parameters),
        better=metric.better,
        kind=_kind(metric),
        statistic="median" if median else "mean",
        value=float(middle(defined)) if len(defined) else None,
        low=None if low is None else float(low[0]),
        high=None if high is None else float(high[0]),
        n=len(values),
        undefined=len(values) - len(defined),
    )


def _kind(metric: Metric) -> Literal["erasure", "retraining", "amounts", "sensitivity", "sanity", "rationale", "probe"]:
    if isinstance(metric, RationaleMetric):
        return "rationale"
    if isinstance(metric, AmountMetric):
        return "amounts"
    if isinstance(metric, RerunMetric):
        return metric.kind
    if isinstance(metric, RetrainMetric):
        return "retraining"
    return "probe" if isinstance(metric, Probe) else "erasure"
