"""The section of the page of metrics that holds every metric against known truth."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from faithboard.report import layout, markdown
from faithboard.report.markdown import number
from faithboard.report.taus import related, swapped_cell, tau_cell, without_tau
from faithboard.stats.agreed import MetricAgreement
from faithboard.stats.board import Board, Table
from faithboard.stats.truth import seed_taus, told_apart

ABOUT = """
On planted tasks it is known which tokens the model uses, and a model stands here only if it is verified to use them. A
metric that ranks the methods as `precision@k` does measures the same thing there. It need not elsewhere: a planted
token is a strong and lonely signal. Where an interval reaches 0, agreement is not shown. `tau` counts every difference
between two methods, however small; `reversed` counts the pairs of methods that the paired tests tell apart in both, and
how many of them the metric puts in the opposite order. Where no pair is told apart in both there is no tau to speak of.
The tau of each seed is of the means of that seed; the interval is over examples alone.
""".strip()
UNDECIDED = "no two methods told apart in both"


def truth_section(board: Board) -> list[str]:
    """Heading, rules and tables; empty where nothing is held against known truth."""
    of = {table.key: related(board, "truth", table) for table in board.tables}
    tables = [table for table in board.tables if of[table.key]]
    if not any(one.tau is not None for table in tables for one in of[table.key]):
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


def _tau(one: MetricAgreement) -> float | None:
    """The tau of a metric that tells apart some methods that truth tells apart."""
    return one.tau if one.decided else None


def _place(one: MetricAgreement) -> tuple[float, str]:
    """The metric that agrees most first, those without a tau last."""
    tau = _tau(one)
    return math.inf if tau is None else -tau, one.a


def _table(board: Board, table: Table, pairs: Sequence[MetricAgreement]) -> str:
    several = len(table.seeds) > 1
    rows = []
    for one in sorted(pairs, key=_place):
        tau, seeds = tau_cell(one), markdown.NOTHING
        if one.decided:
            seeds = " / ".join(map(_number, seed_taus(board, table, one.a)))
        elif one.tau is not None:
            tau = UNDECIDED
        rows.append((f"`{one.a}`", tau, *([seeds] if several else []), swapped_cell(one), f"{one.methods}"))
    of_seed = [f"tau of seed {' / '.join(map(str, table.seeds))}"] if several else []
    headers = ("metric", "tau", *of_seed, "reversed", "methods")
    return "\n\n".join([markdown.table(headers, rows, right=(len(headers) - 1,)), *without_tau(pairs)])


def _number(tau: float) -> str:
    return markdown.NOTHING if math.isnan(tau) else number(tau, 2)


def _means(board: Board, tables: Sequence[Table], pairs: Sequence[MetricAgreement]) -> str:
    """One row per metric, those that agree most in the mean over models first."""
    taus: dict[str, dict[str, float]] = defaultdict(dict)
    for one in pairs:
        if (tau := _tau(one)) is not None:
            taus[one.a][one.table] = tau
    ordered = sorted(taus, key=lambda metric: (-fmean(taus[metric].values()), metric))
    rows = [
        (
            f"`{metric}`",
            number(fmean(taus[metric].values())),
            *(number(taus[metric].get(table.key)) for table in tables),
        )
        for metric in ordered
    ]
    headers = ("metric", "mean", *(layout.model_name(board, table) for table in tables))
    return markdown.table(headers, rows, right=range(1, len(headers)))
