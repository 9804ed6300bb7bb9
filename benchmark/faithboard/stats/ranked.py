"""The methods of one table in one metric: their standings, ranks and comparisons (definitions, section 6).

What keeps a row from being ranked is written in the row; it is shown all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from faithboard.records import Row
from faithboard.stats import resampling
from faithboard.stats.agreement import Ranking
from faithboard.stats.aligned import Aligned, align
from faithboard.stats.board import Comparison, Standing, Table
from faithboard.stats.comparisons import beats, compare
from faithboard.stats.entries import Entry

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy import ndarray


def rank_metric(
    table: Table, info: Row, entries: Sequence[Entry], by_example: Mapping[tuple[str, str], pd.Series[float]]
) -> tuple[list[Standing], list[Comparison], Ranking]:
    """Standings in the order of the entries, comparisons of those that are ranked, and what the metric says of them.

    `by_example` is (explanation key, metric) -> value by example.
    """
    entries = [entry for entry in entries if entry.makes_sense(info.metric)]
    aligned = align(table, info, entries, by_example)
    means = resampling.mean_defined(aligned.values, 2)
    median = info.statistic == "median"
    resampled = (resampling.bootstrap_medians if median else resampling.bootstrap_means)(means)
    standings = [
        _standing(table, info, entry, aligned, at, means[:, at], resampled[:, at]) for at, entry in enumerate(entries)
    ]
    ranked = [at for at, standing in enumerate(standings) if not standing.reason]
    own = [at for at in ranked if entries[at].first.kind != "reference"]
    columns = [entries[at].method for at in own]
    ranking = Ranking(info, pd.DataFrame(means[:, own], index=list(aligned.examples), columns=columns))
    if info.better == "neither" or median:
        return standings, [], ranking
    methods = [entries[at].method for at in ranked]
    pairs = compare(table, info.metric, info.better, methods, aligned.values[:, ranked], resampled[:, ranked])
    for at, best, worst in zip(ranked, *resampling.ranks(beats(pairs, methods)), strict=True):
        standings[at] = replace(standings[at], rank=int(best), rank_high=int(worst), ranked=len(ranked))
    return standings, pairs, ranking


def _standing(
    table: Table,
    info: Row,
    entry: Entry,
    aligned: Aligned,
    at: int,
    means: Float[ndarray, "example"],
    resampled: Float[ndarray, "resample"],
) -> Standing:
    rows = list(entry.current(info).values())
    of_seed = resampling.mean_defined(aligned.values[:, at], 0)
    status, _ = entry.failure(info.metric)
    low, high = resampling.interval(resampled)
    middle = _median if info.statistic == "median" else resampling.mean_defined
    expected = [row.expectation for row in rows if row.expectation is not None]
    return Standing(
        table=table.key,
        suite=table.suite,
        suite_version=table.suite_version,
        task=table.task,
        model=table.model,
        training=table.training,
        method=entry.method,
        method_kind=entry.first.kind,
        signed=entry.first.signed,
        metric=info.metric,
        metric_version=info.metric_version,
        metric_kind=info.kind,
        better=info.better,
        status=status,
        reason=aligned.reasons[at] or table.reason or _unverified(table, info),
        value=resampling.rounded_or_none(middle(means, 0)),
        low=resampling.rounded_or_none(low),
        high=resampling.rounded_or_none(high),
        seed_means={
            str(seed): resampling.rounded(mean)
            for seed, mean in zip(table.seeds, of_seed, strict=True)
            if np.isfinite(mean)
        },
        seed_spread=resampling.rounded(np.nanstd(of_seed, ddof=1)) if np.isfinite(of_seed).sum() > 1 else None,
        n=int(np.isfinite(means).sum()),
        excluded=aligned.excluded,
        truncated=max(explanation.truncated for explanation in entry.by_seed.values()),
        undefined_share=resampling.rounded(aligned.undefined[at]),
        expectation=resampling.rounded_or_none(float(np.mean(expected)) if expected else None),
        points=list(info.points),
        curve=_over_seeds([row.curve for row in rows]),
        curve_low=_over_seeds([row.curve_low for row in rows]),
        curve_high=_over_seeds([row.curve_high for row in rows]),
        counts=dict(rows[0].counts) if rows else {},
        statistic=info.statistic,
    )


def _median(values: Float[ndarray, "example"], axis: int) -> Float[ndarray, ""]:
    defined = values[np.isfinite(values)]
    return np.median(defined, axis=axis) if len(defined) else np.asarray(np.nan)


def _over_seeds(curves: Sequence[Sequence[float]]) -> list[float]:
    """Mean of each point over the seeds that have a curve."""
    known = [curve for curve in curves if curve]
    return [resampling.rounded(value) for value in np.mean(known, axis=0)] if known else []


def _unverified(table: Table, info: Row) -> str:
    if info.kind == "rationale" and table.known_truth and not table.has_known_truth:
        return "the model is not verified to use the planted tokens"
    return ""
