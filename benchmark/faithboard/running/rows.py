"""From values per example to the stored rows: one metric on one explanation, with its interval and its counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pandas as pd

from faithboard.keys import row_key
from faithboard.metric import ErasureMetric, Metric, Probe, RationaleMetric
from faithboard.records import Row
from faithboard.running.scoring import Scored
from faithboard.stats import bootstrap_means, interval


def metric_row(explanation: str, metric: Metric, scored: Scored, seed: int) -> Row:
    """The row of `metric`; `explanation` is the key, `seed` that of the bootstrap."""
    if metric.name in scored.failed:
        empty = _row(explanation, metric, metric.name, pd.Series(dtype=float), seed)
        return replace(empty, status="failed", reason=scored.failed[metric.name])
    values = scored.values[scored.values["metric"] == metric.name]
    points = list(metric.points) if isinstance(metric, ErasureMetric) else []
    curves = pd.DataFrame(values["points"].tolist(), columns=points) if points else pd.DataFrame()
    return _row(
        explanation,
        metric,
        metric.name,
        values["value"],
        seed,
        excluded=scored.excluded[metric.name],
        points=points,
        curve=[float(mean) for mean in curves.mean()] if bool(curves.notna().any().all()) else [],
        expectation=scored.expectation.get(metric.name),
    )


def probe_rows(explanation: str, probe: Probe, values: pd.DataFrame, seed: int) -> list[Row]:
    """One row per column of a probe; they share the key of the probe."""
    return [_row(explanation, probe, point, values[values["metric"] == point]["value"], seed) for point in probe.points]


def _row(
    explanation: str,
    metric: Metric,
    name: str,
    values: pd.Series,
    seed: int,
    *,
    excluded: int = 0,
    points: list[str] | None = None,
    curve: list[float] | None = None,
    expectation: float | None = None,
) -> Row:
    defined = values.dropna().to_numpy()
    low, high = interval(bootstrap_means(defined[:, None], seed=seed)) if len(defined) else (None, None)
    return Row(
        key=row_key(explanation, metric),
        metric=name,
        metric_version=metric.version,
        parameters=dict(metric.parameters),
        better=metric.better,
        kind=_kind(metric),
        value=float(defined.mean()) if len(defined) else None,
        low=None if low is None else float(low[0]),
        high=None if high is None else float(high[0]),
        n=len(values),
        undefined=len(values) - len(defined),
        excluded=excluded,
        points=points or [],
        curve=curve or [],
        expectation=expectation,
    )


def _kind(metric: Metric) -> Literal["erasure", "rationale", "probe"]:
    if isinstance(metric, RationaleMetric):
        return "rationale"
    return "probe" if isinstance(metric, Probe) else "erasure"
