"""What known truth can say of the metrics of a table, from the lines of a board: what it decides, and seed by seed."""

from __future__ import annotations

import numpy as np
from scipy.stats import somersd

from faithboard.stats.agreement import TRUTH
from faithboard.stats.board import Board, Standing, Table


def told_apart(board: Board, table: Table) -> tuple[int, int]:
    """How many pairs of explanation methods known truth tells apart, and of how many that it ranks."""
    methods = _ranked(board, table, TRUTH)
    pairs = [
        pair
        for pair in board.comparisons
        if pair.table == table.key and pair.metric == TRUTH and pair.a in methods and pair.b in methods
    ]
    return sum(bool(pair.better) for pair in pairs), len(pairs)


def seed_agreements(board: Board, table: Table, metric: str) -> list[float]:
    """Somers' D of a metric given known truth in each seed of a table, over the methods that both rank.

    Of the means per seed, which the rows hold to six digits. NaN with fewer than two methods, for a seed in which truth
    ties all of them, and for one that a row has no mean of.
    """
    own, truth = _ranked(board, table, metric), _ranked(board, table, TRUTH)
    methods = sorted(own.keys() & truth.keys())
    found = []
    for seed in map(str, table.seeds):
        values, known = (np.array([_turned(one[name], seed) for name in methods]) for one in (own, truth))
        defined = np.isfinite(values).all() and np.isfinite(known).all() and len(set(known)) > 1
        found.append(float(somersd(known, values).statistic) if defined else np.nan)
    return found


def _ranked(board: Board, table: Table, metric: str) -> dict[str, Standing]:
    """The explanation methods that a metric ranks; no reference rows."""
    return {
        one.method: one
        for one in board.standings
        if (one.table, one.metric) == (table.key, metric) and not one.reason and one.method_kind != "reference"
    }


def _turned(one: Standing, seed: str) -> float:
    """The mean of a seed, turned so that higher is better."""
    mean = one.seed_means.get(seed, np.nan)
    return mean if one.better == "higher" else -mean
