"""Methods over tasks: mean rank and win rate, each family of tasks counting once (definitions, section 6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING

import numpy as np

from faithboard.stats import resampling
from faithboard.stats.board import Board, Standing

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy import ndarray


@dataclass(frozen=True)
class Overall:
    """One method in one metric, over all tasks in which one model with one training has a ranking."""

    model: str
    training: str
    metric: str
    method: str
    mean_rank: float
    """Mean over families of the mean rank over the family's tasks."""
    rank_low: float
    rank_high: float
    """95 % bootstrap interval of the mean rank, over families."""
    win_rate: float
    """Mean share of the other methods that it beats; one that cannot be told apart counts half."""
    win_low: float
    win_high: float
    families: int
    """Families in which it is ranked."""
    complete: bool
    """False when some family ranks others and not this method: its means are over easier or harder company."""


def overall(board: Board) -> list[Overall]:
    """One line per model, training, metric and method; complete methods by mean rank first, then the others.

    Only what has rankings in at least two families is summed up: one family is its own table. Plausibility is left
    out, as it ranks agreement with people and would be mixed with known truth of the same name.
    """
    family_of = {table.key: table.family for table in board.tables}
    planted = {table.key for table in board.tables if table.known_truth}
    groups: dict[tuple[str, str, str], list[Standing]] = defaultdict(list)
    for standing in board.standings:
        faithfulness = standing.metric_kind != "rationale" or standing.table in planted
        if faithfulness and standing.rank is not None and standing.ranked > 1:
            groups[standing.model, standing.training, standing.metric].append(standing)
    found: list[Overall] = []
    for (model, training, metric), standings in sorted(groups.items()):
        families = sorted({family_of[standing.table] for standing in standings})
        if len(families) < 2:
            continue
        lines = [
            _summed_up(model, training, metric, method, own, len(families))
            for method, own in _by_method(standings, family_of).items()
        ]
        found += sorted(lines, key=lambda line: (not line.complete, line.mean_rank, line.method))
    return found


def _by_method(
    standings: Iterable[Standing], family_of: Mapping[str, str]
) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Method -> family -> (rank, share of the others beaten) of each task."""
    found: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for standing in standings:
        assert standing.rank is not None
        assert standing.rank_high is not None
        worse, same = standing.ranked - standing.rank_high, standing.rank_high - standing.rank
        wins = (worse + same / 2) / (standing.ranked - 1)
        found[standing.method][family_of[standing.table]].append((standing.rank, wins))
    return found


def _summed_up(
    model: str, training: str, metric: str, method: str, own: Mapping[str, list[tuple[float, float]]], families: int
) -> Overall:
    per_family: Float[ndarray, "family 2"] = np.array(
        [[mean(rank for rank, _ in tasks), mean(wins for _, wins in tasks)] for _, tasks in sorted(own.items())]
    )
    low, high = resampling.interval(resampling.bootstrap_means(per_family))
    ranks, wins = per_family.mean(0)
    return Overall(
        model=model,
        training=training,
        metric=metric,
        method=method,
        mean_rank=float(ranks),
        rank_low=float(low[0]),
        rank_high=float(high[0]),
        win_rate=float(wins),
        win_low=float(low[1]),
        win_high=float(high[1]),
        families=len(per_family),
        complete=len(per_family) == families,
    )
