"""Sanity checks: is an explanation of a model that cannot know the task another one? (Adebayo et al. 2018). Pure.

The measure is Kendall's tau-b between the magnitudes of scores. What it can reach at best is its value between two
models of the same task that were trained with different seeds; a method fails a check where a model that has not
learned the task reaches half of it (definitions, section 5). None of the models compared began with the same weights,
if there are two seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from faithboard.records import Row
from faithboard.stats import resampling
from faithboard.stats.agreed import SanityCheck
from faithboard.stats.board import Table
from faithboard.stats.entries import Entry
from faithboard.stats.magnitudes import ReadScores, by_example, of_same_draws
from faithboard.stats.versions import shown

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy import ndarray

    Taus = pd.DataFrame
    """Examples x pairs of models, NaN where undefined."""

PARAMETERS: Final = "parameter-randomisation"
LABELS: Final = "label-randomisation"
CONTROL = "random-labels"
"""The training whose models the labels of `standard` mean nothing to."""
LIMIT = 0.5
"""Share of the tau between seeds that a model without knowledge of the task must stay below."""


def sanity_checks(
    tables: Iterable[tuple[Table, Sequence[Entry]]],
    values: Mapping[tuple[str, str], pd.Series[float]],
    scores: ReadScores,
) -> list[SanityCheck]:
    """Both checks of every method that has one, table by table; control models have none of their own."""
    tables = list(tables)
    controls = {_place(table): entries for table, entries in tables if table.training == CONTROL}
    found = []
    for table, entries in tables:
        if table.training == CONTROL:
            continue
        control = controls.get(_place(table), ()) if table.training == "standard" else ()
        shuffled = {entry.method: entry for entry in control}
        for entry in entries:
            found += _of_method(table, entry, shuffled.get(entry.method), values, scores)
    return found


def _place(table: Table) -> tuple[str, int, str, str]:
    return table.task, table.task_version, table.fingerprint, table.model


def _of_method(
    table: Table,
    entry: Entry,
    control: Entry | None,
    values: Mapping[tuple[str, str], pd.Series[float]],
    scores: ReadScores,
) -> list[SanityCheck]:
    rows = [row for row in entry.rows(PARAMETERS).values() if row.kind == "sanity"]
    if not rows and control is None:
        return []
    own = {seed: by_example(scores(key)) for seed in table.seeds if (key := entry.scored(seed))}
    seeds = _taus([own[seed] for seed in own])
    plain = SanityCheck(table.key, table.task, table.model, table.training, entry.method, PARAMETERS, 0)
    found = []
    if rows:
        found.append(_of_parameters(plain, entry, rows, seeds, values))
    if control is not None:
        others = {seed: by_example(scores(key)) for seed in table.seeds if (key := control.scored(seed))}
        every = [(a, b) for a in own for b in others]
        # Of one seed both models began with the same weights, which models of different seeds do not share.
        apart = [(a, b) for a, b in every if a != b] or every
        pairs = [_taus([own[a], others[b]]) for a, b in apart]
        taus = pd.concat(pairs, axis=1) if pairs else pd.DataFrame()
        reason = "" if pairs else "no model of shuffled labels is explained"
        found.append(_judged(replace(plain, check=LABELS), taus, seeds, reason))
    return found


def _of_parameters(
    plain: SanityCheck,
    entry: Entry,
    rows: Sequence[Row],
    seeds: Taus,
    values: Mapping[tuple[str, str], pd.Series[float]],
) -> SanityCheck:
    info = shown(rows)
    current = entry.current(info)
    cells = [values[place] for seed in current if (place := (entry.by_seed[seed].key, info.metric)) in values]
    taus = pd.concat(cells, axis=1) if cells else pd.DataFrame()
    curves = [row for row in current.values() if row.curve and row.points == info.points]
    check = replace(
        plain,
        points=list(info.points) if curves else [],
        curve=_over_seeds([row.curve for row in curves]),
        curve_low=_over_seeds([row.curve_low for row in curves]),
        curve_high=_over_seeds([row.curve_high for row in curves]),
    )
    return _judged(check, taus, seeds, entry.failure(info.metric)[1])


def _over_seeds(curves: Sequence[Sequence[float]]) -> list[float]:
    return [resampling.rounded(value) for value in np.mean(curves, axis=0)] if curves else []


def _taus(models: Sequence[Mapping[str, Float[ndarray, "draw token"]]]) -> Taus:
    """tau between every two models on the examples of two words or more that all of them have."""
    if len(models) < 2:
        return pd.DataFrame()
    names = sorted(set.intersection(*map(set, models)))
    several = [name for name in names if models[0][name].shape[1] >= 2]
    return pd.DataFrame([of_same_draws([one[name] for one in models]) for name in several], index=several)


def _judged(check: SanityCheck, taus: Taus, seeds: Taus, reason: str) -> SanityCheck:
    names = sorted({*taus.index, *seeds.index})
    own, best = (
        resampling.mean_defined(one.reindex(names).to_numpy(dtype=float).reshape(len(names), -1), 1)
        for one in (taus, seeds)
    )
    means = resampling.mean_defined(np.stack([own, best], 1), 0)
    resampled = resampling.bootstrap_means(np.stack([own, best], 1))
    resampled = np.column_stack([resampled, LIMIT * resampled[:, 1] - resampled[:, 0]])
    (low, high) = resampling.interval(resampled)
    margin = LIMIT * means[1] - means[0]
    if not reason and not len(seeds):
        reason = "only one seed is explained, and another is what it is held against"
    elif not reason and not np.isfinite(margin):
        reason = "undefined on every example"
    elif not reason and low[1] <= 0 and low[2] <= 0 <= high[2]:
        reason = "not even models of different seeds agree more than by chance"

    def figure(value: float) -> float | None:
        return resampling.rounded_or_none(value)

    return replace(
        check,
        n=int(np.isfinite(own).sum()),
        undefined_share=_missing(taus),
        tau=figure(means[0]),
        low=figure(low[0]),
        high=figure(high[0]),
        seeds_tau=figure(means[1]),
        seeds_low=figure(low[1]),
        seeds_high=figure(high[1]),
        seeds_undefined_share=_missing(seeds),
        margin=figure(margin),
        margin_low=figure(low[2]),
        margin_high=figure(high[2]),
        passed=None if reason else bool(margin > 0),
        reason=reason,
    )


def _missing(taus: Taus) -> float:
    return resampling.rounded(taus.isna().to_numpy().mean()) if taus.size else 0.0
