"""The overview of a suite: which methods lead in which task, and how methods do over tasks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from faithboard.report import layout, markdown
from faithboard.report.agreement import PAGE, metrics_page
from faithboard.report.markdown import number, percent, plain
from faithboard.report.models import models_index
from faithboard.report.page import HOW_TO_READ
from faithboard.report.paired import NOT_IN_EVERY_SEED, behind
from faithboard.stats.board import Board, Table
from faithboard.stats.ranking import Overall, overall
from faithboard.stats.sanity import CONTROL

SHOWN = 5
"""Methods that a line of the overview names; the page of the task has them all."""

FIRST = ("comprehensiveness", "sufficiency", "precision@k")
"""Metrics whose tables over tasks stand open."""
HEADERS = ("method", "mean rank", "win rate", "families")


def index_page(board: Board) -> str:
    """The Markdown of a suite's README, heading included."""
    if not board.standings:
        return models_index(board)
    first = board.tables[0]
    seeds = ", ".join(map(str, first.seeds))
    parts = [
        f"# Leaderboard {first.suite} v{first.suite_version}",
        f"Which explanation method tells the truth about the model? Seeds: {seeds}.",
        leaders(board),
        _metrics(board),
        _over_tasks(overall(board)),
        "## How to read this",
        HOW_TO_READ,
    ]
    return "\n\n".join(part for part in parts if part)


def leaders(board: Board, folder: str = "") -> str:
    """One line per table: the methods that share rank 1 in its leading metric. Links lead to pages in `folder`."""
    rows = []
    explained = {standing.task for standing in board.standings} | {probe.task for probe in board.probes}
    for table in board.tables:
        if table.training == CONTROL:
            continue
        # A task of which nothing was explained has no page but that of the models.
        page = f"{table.task}.md" if table.task in explained else "models.md"
        measure = table.performance_measure
        values = table.performance.get(measure, [])
        said = layout.reservations(table)
        rows.append(
            (
                f"[{layout.task_name(board, table)}]({folder}{page}){f' ({said})' if said else ''}",
                f"{table.model}, {table.training}",
                f"{measure} {number(sum(values) / len(values))}" if values else markdown.NOTHING,
                *_best(board, table),
            )
        )
    return markdown.table(("task", "model", "test performance", "leading metric", "rank 1", "best value"), rows)


def _metrics(board: Board) -> str:
    """Where the page of metrics is; empty when there is none."""
    if not metrics_page(board):
        return ""
    return f"The metrics are ranked too, by known truth and by each other: [{PAGE}]({PAGE})."


def _best(board: Board, table: Table) -> tuple[str, str, str]:
    grid = layout.faithfulness(board, table)
    if not grid.metrics:
        return markdown.NOTHING, f"nothing ranked: {plain(table.reason)}" if table.reason else "nothing ranked", "-"
    metric = grid.metrics[0]
    first = [cell for cell in grid.column(metric) if cell.rank == 1]
    if not first:
        reason = table.reason or next((cell.reason for cell in grid.column(metric)), "")
        return grid.header(metric), f"nothing ranked: {plain(reason)}", markdown.NOTHING
    held = behind(board, grid, metric)
    level = [cell.method for cell in first if cell.method not in held]
    others = [cell.method for cell in first if cell.method in held]
    ranked = sum(cell.rank is not None for cell in grid.column(metric))
    said = f"{len(level)} of {ranked}: {_some(level)}" if len(level) > SHOWN else _some(level)
    if others:
        said += f"; behind some of them ({NOT_IN_EVERY_SEED}): {_some(others)}"
    return grid.header(metric), said, grid.value(first[0].method, metric)


def _some(methods: Sequence[str]) -> str:
    """The first of the methods by name, best value first, and how many more there are."""
    named = ", ".join(f"`{method}`" for method in methods[:SHOWN])
    return f"{named} and {len(methods) - SHOWN} more" if len(methods) > SHOWN else named


def _over_tasks(lines: list[Overall]) -> str:
    """Empty while only one family of tasks has rankings. What is asked first stands open, the other metrics folded."""
    if not lines:
        return ""
    opened, folded = [], []
    for (model, training, metric), group in groupby(lines, lambda line: (line.model, line.training, line.metric)):
        rows = [
            (
                f"`{line.method}`",
                f"{number(line.mean_rank, 2)} [{number(line.rank_low, 2)}, {number(line.rank_high, 2)}]",
                f"{percent(line.win_rate)} [{percent(line.win_low)}, {percent(line.win_high)}]",
                f"{line.families}" if line.complete else f"{line.families} (not all)",
            )
            for line in group
        ]
        name, body = f"{metric}: {model}, {training} training", markdown.table(HEADERS, rows, right=(3,))
        if metric in FIRST:
            opened.append(f"### {name}\n\n{body}")
        else:
            folded.append(markdown.folded(name, body))
    said = "Families of tasks count once; intervals are a bootstrap over families."
    return "\n\n".join(["## Over tasks", said, *opened, *folded])
