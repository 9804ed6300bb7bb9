"""Pieces of the sections that compare rankings: which lines they are about, and what stands beside a tau."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

from faithboard.report.markdown import with_interval
from faithboard.stats.agreed import MetricAgreement
from faithboard.stats.board import Board, Table


def related(board: Board, relation: Literal["truth", "operator"], table: Table) -> list[MetricAgreement]:
    """The pairs of metrics of a table that are related in one way."""
    return [one for one in compared(board) if one.relation == relation and one.table == table.key]


def compared(board: Board) -> list[MetricAgreement]:
    """All pairs of metrics. Lines of earlier releases rank methods by medians too, which differ by rounding alone."""
    medians = {(one.table, one.metric) for one in board.standings if one.statistic == "median"}
    return [one for one in board.metric_agreement if not {(one.table, one.a), (one.table, one.b)} & medians]


def tau_cell(one: MetricAgreement) -> str:
    """`0.412 [0.380, 0.444]`."""
    return with_interval(one.tau, one.low, one.high)


def swapped_cell(*pairs: MetricAgreement) -> str:
    """`1 of 20`: pairs of methods in opposite order, of those that the paired tests tell apart in both metrics."""
    return f"{sum(one.reversed for one in pairs)} of {sum(one.decided for one in pairs)}"


def without_tau(pairs: Iterable[MetricAgreement]) -> list[str]:
    """How many pairs of metrics have no tau, by reason, and how many intervals are over fewer resamples than all."""
    reasons: dict[str, int] = defaultdict(int)
    partial = 0
    for one in pairs:
        if one.reason:
            reasons[one.reason] += 1
        partial += one.undefined_share > 0
    lines = [f"- {count} without a tau: {reason}." for reason, count in sorted(reasons.items())]
    if partial:
        lines.append(f"- {partial} with intervals that leave out resamples in which all methods are tied.")
    return ["\n".join(lines)] if lines else []
