"""Erasure curves: the mean at each share of the tokens for every method, between the lines of a random order's band."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from faithboard.report import markdown
from faithboard.report.layout import Grid
from faithboard.report.markdown import number
from faithboard.stats.board import Standing
from faithboard.stats.entries import BASELINE

OWN = (
    f"Curves are of the examples that a method orders. Where its scores give no order the value of `{BASELINE}` stands "
    "in, in the tables above and not here."
)


def curves(grid: Grid) -> str:
    """One folded table per metric with a curve; empty where there is none."""
    found = [table for metric in grid.metrics for table in _curve(metric, grid.column(metric))]
    if not found:
        return ""
    return markdown.folded(f"Curves, with the 95 % band of <code>{BASELINE}</code>", "\n\n".join([*found, OWN]))


def _curve(metric: str, cells: Sequence[Standing]) -> Iterator[str]:
    known = [cell for cell in cells if cell.curve and len(cell.curve) == len(cell.points) > 1]
    if not known:
        return
    rows = [(f"`{cell.method}`", *map(number, cell.curve)) for cell in known]
    band = next((cell for cell in known if cell.method == BASELINE and len(cell.curve_low) == len(cell.curve)), None)
    if band is not None:
        between = (
            f"{number(low)} to {number(high)}" for low, high in zip(band.curve_low, band.curve_high, strict=True)
        )
        rows.append((f"band of `{BASELINE}`", *between))
    headers = ("method", *known[0].points)
    yield f"{metric}:\n\n{markdown.table(headers, rows, right=range(1, len(headers)))}"
