"""Statistics of definitions, section 6: intervals, paired tests, ties and ranks. Pure: records in, a board out."""

from __future__ import annotations

from faithboard.stats.board import Board, Comparison, Cost, ProbeSummary, Standing, Table
from faithboard.stats.ranking import Overall, overall
from faithboard.stats.resampling import bootstrap_means, bootstrap_medians, interval
from faithboard.stats.standings import rank

__all__ = [
    "Board",
    "Comparison",
    "Cost",
    "Overall",
    "ProbeSummary",
    "Standing",
    "Table",
    "bootstrap_means",
    "bootstrap_medians",
    "interval",
    "overall",
    "rank",
]
