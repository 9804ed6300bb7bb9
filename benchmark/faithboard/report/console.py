"""The leaderboard as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from tabulate import tabulate

from faithboard.report import layout
from faithboard.report.layout import Grid
from faithboard.report.markdown import NOTHING, amount, number
from faithboard.stats.board import Board, Table


def console_table(board: Board, width: int = 120) -> str:
    """Every table of a board, the most detailed layout that fits into `width` columns; the narrowest when none does."""
    return "\n\n".join(_table(board, table, width) for table in board.tables)


def _table(board: Board, table: Table, width: int) -> str:
    performance = table.performance.get(table.performance_measure, [])
    mean = number(sum(performance) / len(performance)) if performance else NOTHING
    title = f"{table.task}: {table.model}, {table.training} training, {table.performance_measure} {mean}"
    if said := layout.reservations(table):
        title += f" ({said})"
    grid = layout.faithfulness(board, table)
    parts = [title]
    if grid.methods:
        layouts = [_text(grid, intervals=i, cost=c) for i, c in ((True, True), (True, False), (False, False))]
        parts.append(next((text for text in layouts if _width(text) <= width), layouts[-1]))
    parts += _reasons(grid)
    return "\n".join(parts)


def _text(grid: Grid, *, intervals: bool, cost: bool) -> str:
    """With `intervals` false only the leading metric keeps its interval."""
    headers = ["method"]
    for metric in grid.metrics:
        headers += ["rank", grid.header(metric)]
    rows = []
    for method in grid.methods:
        row = [method]
        for metric in grid.metrics:
            cell = grid.cells.get((method, metric))
            short = number(cell.value) if cell and cell.value is not None else grid.value(method, metric)
            row += [
                grid.rank(method, metric),
                grid.value(method, metric) if intervals or metric == grid.metrics[0] else short,
            ]
        rows.append(row)
    if cost:
        headers.append("examples/s")
        for row, method in zip(rows, grid.methods, strict=True):
            cell = next(grid.cells[method, metric] for metric in grid.metrics if (method, metric) in grid.cells)
            row.append(amount(cell.examples_per_second))
    align = ["left"] * (1 + 2 * len(grid.metrics)) + ["right"] * cost
    return tabulate(rows, headers, tablefmt="simple", disable_numparse=True, colalign=align)


def _width(text: str) -> int:
    return max(map(len, text.splitlines()))


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
