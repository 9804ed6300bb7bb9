"""Probes of one table's model, summed up as Jain & Wallace (2019) publish them: overall and by predicted class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from faithboard.stats import resampling
from faithboard.stats.board import ProbeSummary, Table
from faithboard.stats.entries import Entry
from faithboard.stats.versions import shown

if TYPE_CHECKING:
    import pandas as pd
    from jaxtyping import Bool, Float
    from numpy import ndarray

TEST = "p-"
"""A column `p-x` holds the p values of the column `tau-x`."""
STATISTIC = "tau-"
PREDICTED = "predicted-class"
"""The column with the index of the predicted class."""
MOST_CLASSES = 10
"""With more classes than this (answers chosen among many) there is no breakdown by class."""


def summed_up(table: Table, entry: Entry, values: Mapping[tuple[str, str], pd.Series[float]]) -> Iterator[ProbeSummary]:
    """One summary per column and group of examples.

    Seeds whose probe failed, asked other weights or is of an older version are left out; a summary names those it has.
    """
    columns = {
        (metric, seed): values[place]
        for metric in entry.metrics
        for seed in _counted(entry, metric)
        if (place := (entry.by_seed[seed].key, metric)) in values
    }
    seeds = sorted({seed for _, seed in columns})
    examples = sorted({name for column in columns.values() for name in column.index})

    def cells(metric: str) -> Float[ndarray, "example seed"]:
        return np.stack(
            [
                columns[metric, seed].reindex(examples).to_numpy(dtype=float)
                if (metric, seed) in columns
                else np.full(len(examples), np.nan)
                for seed in seeds
            ],
            axis=1,
        )

    names = sorted({metric for metric, _ in columns})
    groups: dict[int | None, Bool[ndarray, "example seed"]] = {None: np.ones((len(examples), len(seeds)), dtype=bool)}
    if PREDICTED in names:
        predicted = cells(PREDICTED)
        classes = np.unique(predicted[np.isfinite(predicted)]).astype(int).tolist()
        if 1 < len(classes) <= MOST_CLASSES:
            groups |= {label: predicted == label for label in classes}
    for name in names:
        if name == PREDICTED or name.startswith(TEST):
            continue
        test = name.replace(STATISTIC, TEST, 1)
        p = cells(test) if test != name and test in names else None
        for label, members in groups.items():
            found = _summary(table, name, label, seeds, cells(name), p, members)
            if found is not None:
                yield found


def _counted(entry: Entry, metric: str) -> list[int]:
    """Seeds whose row is of the newest version and of the weights that the table's model has."""
    rows = entry.rows(metric)
    current = entry.current(shown(rows.values()))
    return [seed for seed in current if entry.by_seed[seed].weights_sha256 == entry.weights[seed]]


def _summary(
    table: Table,
    probe: str,
    predicted: int | None,
    seeds: Sequence[int],
    cells: Float[ndarray, "example seed"],
    p: Float[ndarray, "example seed"] | None,
    members: Bool[ndarray, "example seed"],
) -> ProbeSummary | None:
    """None when no example of the group has a value."""
    defined = np.isfinite(cells) & members
    if not defined.any():
        return None
    own = np.where(defined, cells, np.nan)
    means = resampling.mean_defined(own, 1)
    means = means[np.isfinite(means)]
    low, high = resampling.interval(resampling.bootstrap_means(means[:, None]))
    of_seed = [column[np.isfinite(column)] for column in own.T if np.isfinite(column).any()]
    tested = np.isfinite(p) & defined if p is not None else None
    significant = untestable = None
    if p is not None and tested is not None:
        significant = resampling.rounded((p[tested] <= resampling.LEVEL).mean()) if tested.any() else None
        untestable = resampling.rounded(1 - tested.sum() / defined.sum())
    return ProbeSummary(
        table=table.key,
        task=table.task,
        model=table.model,
        training=table.training,
        probe=probe,
        predicted=predicted,
        n=len(means),
        value=resampling.rounded(means.mean()),
        low=resampling.rounded(low[0]),
        high=resampling.rounded(high[0]),
        example_spread=resampling.rounded(np.mean([column.std() for column in of_seed])),
        seed_spread=resampling.rounded(np.std([c.mean() for c in of_seed], ddof=1)) if len(of_seed) > 1 else None,
        undefined_share=resampling.rounded(1 - defined.sum() / members.sum()),
        significant_share=significant,
        untestable_share=untestable,
        seeds=[seed for seed, column in zip(seeds, defined.T, strict=True) if column.any()],
    )
