"""The section of the page of metrics that holds every metric against known truth."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from faithboard.report import layout, markdown
from faithboard.report.markdown import number, with_interval
from faithboard.report.taus import related, swapped_cell, tau_cell, without_tau
from faithboard.stats.agreed import MetricAgreement
from faithboard.stats.board import Board, Table
from faithboard.stats.truth import seed_agreements, told_apart

ABOUT = """
On planted tasks it is known which tokens the model uses, and a model stands here only if it is verified to use them. A
metric that ranks the methods as `precision@k` does measures the same thing there. It need not elsewhere: a planted
token is a strong and lonely signal. Truth finds many methods equally right, and what a metric says of two of those is
neither right nor wrong. So metrics are ranked by Somers' D: of the pairs of methods that truth does not tie, the share
that the metric has in the right order less the share that it has in the wrong one; 1 is the most. Kendall's tau-b
stands beside it; it takes off for ties that only one of the two has, so a metric that is as coarse as truth can reach 1
and a finer one cannot. Where an interval reaches 0, agreement is not shown. Both count every difference between two
methods, however small; `reversed` counts the pairs of methods that the paired tests tell apart in both, and how many of
them the metric puts in the opposite order. Where no pair is told apart in both there is no agreement to speak of.
The value of each seed is of the means of that seed; the intervals are over examples alone.
""".strip()
UNDECIDED = "no two methods told apart in both"


def truth_section(board: Board) -> list[str]:
    """Heading, rules and tables; empty where nothing is held against known truth."""
    of = {table.key: related(board, "truth", table) for table in board.tables}
    tables = [table for table in board.tables if of[table.key]]
    if not any(one.somers_d is not None for table in tables for one in of[table.key]):
        return []
    deciding = [table for table in tables if told_apart(board, table)[0]]
    bodies = [_table(board, table, of[table.key]) for table in deciding]
    if len(deciding) > 1:
        names = [layout.model_name(board, table) for table in deciding]
        bodies = [markdown.folded(name, body) for name, body in zip(names, bodies, strict=True)]
        bodies.insert(0, _means(board, deciding, [one for table in deciding for one in of[table.key]]))
    said = [f"- {_decided(board, table)}" for table in tables]
    return ["## Which metric finds known truth?", ABOUT, "\n".join(said), *bodies]


def _decided(board: Board, table: Table) -> str:
    apart, pairs = told_apart(board, table)
    name = layout.model_name(board, table)
    if not apart:
        return f"{name}: truth tells no two methods apart ({pairs} pairs), so it ranks no metric."
    return f"{name}: truth tells {apart} of {pairs} pairs of methods apart."


def _agreement(one: MetricAgreement) -> float | None:
    """Somers' D of a metric that tells apart some methods that truth tells apart."""
    return one.somers_d if one.decided else None


def _place(one: MetricAgreement) -> tuple[float, str]:
    """The metric that agrees most first, those without an agreement last."""
    agreement = _agreement(one)
    return math.inf if agreement is None else -agreement, one.a


def _table(board: Board, table: Table, pairs: Sequence[MetricAgreement]) -> str:
    several = len(table.seeds) > 1
    rows = []
    for one in sorted(pairs, key=_place):
        agreement, seeds, tau = markdown.NOTHING, markdown.NOTHING, markdown.NOTHING
        if one.decided:
            agreement, tau = with_interval(one.somers_d, one.somers_low, one.somers_high), tau_cell(one)
            seeds = " / ".join(map(_number, seed_agreements(board, table, one.a)))
        elif one.tau is not None:
            agreement = UNDECIDED
        cells = (f"`{one.a}`", agreement, *([seeds] if several else []), tau, swapped_cell(one), f"{one.methods}")
        rows.append(cells)
    of_seed = [f"of seed {' / '.join(map(str, table.seeds))}"] if several else []
    headers = ("metric", "Somers' D", *of_seed, "tau-b", "reversed", "methods")
    return "\n\n".join([markdown.table(headers, rows, right=(len(headers) - 1,)), *without_tau(pairs)])


def _number(value: float) -> str:
    return markdown.NOTHING if math.isnan(value) else number(value, 2)


def _means(board: Board, tables: Sequence[Table], pairs: Sequence[MetricAgreement]) -> str:
    """One row per metric, those that agree most in the mean over models first."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for one in pairs:
        if (agreement := _agreement(one)) is not None:
            found[one.a][one.table] = agreement
    ordered = sorted(found, key=lambda metric: (-fmean(found[metric].values()), metric))
    rows = [
        (
            f"`{metric}`",
            number(fmean(found[metric].values())),
            f"{len(found[metric])} of {len(tables)}",
            *(number(found[metric].get(table.key)) for table in tables),
        )
        for metric in ordered
    ]
    headers = ("metric", "mean Somers' D", "models", *(layout.model_name(board, table) for table in tables))
    return markdown.table(headers, rows, right=range(1, len(headers)))
