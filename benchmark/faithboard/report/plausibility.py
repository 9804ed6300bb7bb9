"""What stands beside the table of plausibility: what it is not, how long a rationale is, and its ceiling and floor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from faithboard.report.layout import Grid
from faithboard.report.markdown import number, percent
from faithboard.report.words import explained
from faithboard.stats.board import Table
from faithboard.stats.entries import BASELINE

ABOUT = """\
Plausibility is not faithfulness: this table says how well scores agree with tokens that were marked in the data, not
whether the model used them. It is ranked by itself and counts in no mean over tasks."""
OF_LENGTH = ("token-f1", "iou-f1")
"""Metrics of a predicted rationale of a length."""


def about(table: Table, grid: Grid) -> str:
    """The words above the table of plausibility: its metrics, and each number that they are read against."""
    lines = [f"- {line}" for line in (*explained(grid), *_length(table, grid), *_ceiling(table, grid), *_floor(grid))]
    return "\n\n".join([ABOUT, *(["\n".join(lines)] if lines else [])])


def _length(table: Table, grid: Grid) -> Iterator[str]:
    share = _of_split(table, "dev").get("rationale_share")
    metrics = [metric for metric in OF_LENGTH if metric in grid.metrics]
    if share is not None and metrics:
        yield (
            f"Length of a predicted rationale ({', '.join(metrics)}): the top {percent(share)} of the tokens, rounded "
            "up, the average share that the dev split marks."
        )


def _ceiling(table: Table, grid: Grid) -> Iterator[str]:
    agreement = _of_split(table, "test").get("agreement")
    if agreement is not None and "token-f1" in grid.metrics:
        yield (
            f"Human ceiling: token F1 {number(agreement)}, each annotator against the union of the others, mean over "
            "the test split. People choose how much they mark; the length of a predicted rationale is fixed."
        )


def _floor(grid: Grid) -> Iterator[str]:
    if BASELINE in grid.methods:
        cells = {metric: grid.cells.get((BASELINE, metric)) for metric in grid.metrics}
        floor = [f"{metric} {number(cell.value)}" for metric, cell in cells.items() if cell]
        yield f"Floor: `{BASELINE}`, {', '.join(floor)}."


def _of_split(table: Table, split: str) -> dict[str, Any]:
    found: dict[str, Any] = table.data.get("splits", {}).get(split, {})
    return found
