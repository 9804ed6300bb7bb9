"""The leaderboard as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tabulate import tabulate

from faithboard.report import layout
from faithboard.report.layout import Grid
from faithboard.report.markdown import NOTHING, amount, number
from faithboard.stats.board import Board, Table
from faithboard.stats.sanity import CONTROL

_RANK = len("10=")
"""Columns of a rank, so that values stand below each other."""


@dataclass(frozen=True)
class _Columns:
    """What is shown of a grid beside the methods."""

    metrics: tuple[str, ...]
    """Values and ranks."""
    intervals: tuple[str, ...]
    """Those of the metrics that have their interval."""
    speed: bool


def console_table(board: Board, width: int = 120) -> str:
    """Every table of a board in `width` columns. What does not fit is left out, the least important first, and named.

    Speed goes first, then the intervals and then the columns of the last metrics, and at last the leading interval.
    """
    return "\n\n".join(_table(board, table, width) for table in board.tables if table.training != CONTROL)


def _table(board: Board, table: Table, width: int) -> str:
    performance = table.performance.get(table.performance_measure, [])
    mean = number(sum(performance) / len(performance)) if performance else NOTHING
    name = layout.task_name(board, table)
    title = f"{name}: {table.model}, {table.training} training, {table.performance_measure} {mean}"
    if said := layout.reservations(table):
        title += f" ({said})"
    grid = layout.faithfulness(board, table)
    parts = [title]
    if grid.methods:
        texts = [(columns, _text(grid, columns)) for columns in _candidates(grid)]
        columns, text = next((one for one in texts if max(map(len, one[1].splitlines())) <= width), texts[-1])
        parts.append(text)
        if left_out := _left_out(grid, columns):
            parts.append(f"not shown in {width} columns: {left_out}")
    parts += _reasons(grid)
    return "\n".join(parts)


def _candidates(grid: Grid) -> Iterator[_Columns]:
    """From everything to next to nothing."""
    metrics = grid.metrics
    yield _Columns(metrics, metrics, speed=True)
    for kept in range(len(metrics), 0, -1):
        yield _Columns(metrics, metrics[:kept], speed=False)
    for kept in range(len(metrics) - 1, 0, -1):
        yield _Columns(metrics[:kept], metrics[:1], speed=False)
    yield _Columns(metrics[:1], (), speed=False)


def _left_out(grid: Grid, shown: _Columns) -> str:
    intervals = [metric for metric in shown.metrics if metric not in shown.intervals]
    metrics = [metric for metric in grid.metrics if metric not in shown.metrics]
    parts = [", ".join(metrics)] if metrics else []
    parts += [f"intervals of {', '.join(intervals)}"] if intervals else []
    parts += ["examples/s"] * (not shown.speed)
    return "; ".join(parts)


def _text(grid: Grid, shown: _Columns) -> str:
    headers = ["method", *map(grid.header, shown.metrics), *["examples/s"] * shown.speed]
    rows = []
    for method in grid.methods:
        row = [method, *(_cell(grid, method, metric, interval=metric in shown.intervals) for metric in shown.metrics)]
        if shown.speed:
            row.append(amount(grid.costs[method].examples_per_second) if method in grid.costs else NOTHING)
        rows.append(row)
    align = ["left"] * (1 + len(shown.metrics)) + ["right"] * shown.speed
    return tabulate(rows, headers, tablefmt="simple", disable_numparse=True, colalign=align)


def _cell(grid: Grid, method: str, metric: str, *, interval: bool) -> str:
    """`1=  0.365 [0.349, 0.382]`: rank and value."""
    found = grid.cells.get((method, metric))
    value = grid.value(method, metric) if interval or found is None or found.value is None else number(found.value)
    return f"{grid.rank(method, metric):<{_RANK}} {value}"


def _reasons(grid: Grid) -> Sequence[str]:
    if grid.table.reason:
        return [f"nothing is ranked: {grid.table.reason}"]
    found = {
        f"not ranked: {cell.method}: {cell.reason}": None
        for m in grid.metrics
        for cell in grid.column(m)
        if cell.reason
    }
    return list(found)
