"""A grid of methods and metrics as a Markdown table, with a note for everything that a number in it cannot say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist

from faithboard.report import markdown
from faithboard.report.layout import Grid
from faithboard.report.markdown import amount, number, percent, plain
from faithboard.report.paired import undecided
from faithboard.stats.board import Board, Cost, Standing
from faithboard.stats.entries import BASELINE

WIDER = NormalDist().inv_cdf(1 - 0.001 / 2) / NormalDist().inv_cdf(1 - 0.05 / 2)
"""How much wider a 99.9 % interval is than a 95 % one, by the normal distribution: lines hold the latter alone."""
RULE = (
    f"The 99.9 % interval of `{BASELINE}` is the 95 % one, widened about the value by {number(WIDER, 2)}, the ratio of "
    "the normal quantiles: held against 95 %, one table in twenty would fail by chance."
)


def grid_table(grid: Grid) -> str:
    """The Markdown table of a grid: values and ranks of every method, and how many steps it takes."""
    headers = ["method"]
    for metric in grid.metrics:
        headers += [grid.header(metric)] if grid.of_median(metric) else [grid.header(metric), "rank"]
    headers.append("steps per example")
    rows = []
    for method in grid.methods:
        row = [f"`{method}`"]
        for metric in grid.metrics:
            row.append(grid.value(method, metric))
            row += [] if grid.of_median(metric) else [_rank(grid, method, metric)]
        rows.append([*row, _steps(grid.costs.get(method))])
    return markdown.table(headers, rows, right=[len(headers) - 1])


def _rank(grid: Grid, method: str, metric: str) -> str:
    shown = grid.rank(method, metric)
    if shown == markdown.NOTHING:
        return shown
    cell = grid.cells[method, metric]
    return shown if cell.rank == cell.rank_high else f"{shown} ({cell.rank}-{cell.rank_high})"


def _steps(cost: Cost | None) -> str:
    if cost is None or cost.forward_steps is None or cost.backward_steps is None:
        return markdown.NOTHING
    return f"{amount(cost.forward_steps)} + {amount(cost.backward_steps)}"


def notes(board: Board, grid: Grid) -> str:
    """What the numbers of a grid cannot say, as a list."""
    lines = ["Steps: token steps through the encoder per example and draw, forward + backward."]
    lines.append(f"Examples: {_counted(grid)}.")
    expectations = [line for metric in grid.metrics for line in _expectation(grid.column(metric))]
    lines += [*expectations, *[RULE] * bool(expectations)]
    for metric in grid.metrics:
        cells = grid.column(metric)
        lines += [f"{metric}: {words}: {count:,} examples." for words, count in _special(cells).items()]
        undefined = [f"`{cell.method}` {percent(cell.undefined_share)}" for cell in cells if cell.undefined_share]
        if undefined:
            stands_in = f", given the value of `{BASELINE}`" if BASELINE in grid.methods else ""
            lines.append(f"{metric}: undefined examples{stands_in}: {', '.join(undefined)}.")
    lines += undecided(board, grid)
    truncated = max(cell.truncated for cell in grid.cells.values())
    if truncated:
        lines.append(f"{truncated:,} of the explained examples were cut at the task's length limit.")
    lines += _not_ranked(grid)
    return "\n".join(f"- {line}" for line in lines)


def _counted(grid: Grid) -> str:
    """`300`, or by metric where they differ."""
    most = [max(grid.column(metric), key=lambda cell: cell.n) for metric in grid.metrics]
    left = [f" ({cell.excluded:,} excluded for every method alike)" if cell.excluded else "" for cell in most]
    counts = [f"{cell.n:,}{beside}" for cell, beside in zip(most, left, strict=True)]
    if len(set(counts)) == 1:
        return counts[0]
    return ", ".join(f"{metric} {count}" for metric, count in zip(grid.metrics, counts, strict=True))


def _special(cells: Sequence[Standing]) -> Mapping[str, int]:
    """What holds for some of the examples, the same for every method."""
    return max((cell.counts for cell in cells), key=len, default={})


def _expectation(cells: Sequence[Standing]) -> Iterable[str]:
    baseline = next((cell for cell in cells if cell.method == BASELINE), None)
    expected = next((cell.expectation for cell in cells if cell.expectation is not None), None)
    if baseline is None or expected is None or baseline.value is None or baseline.low is None or baseline.high is None:
        return
    low, high = (baseline.value + WIDER * (bound - baseline.value) for bound in (baseline.low, baseline.high))
    verdict = "contains" if low <= expected <= high else "**does not contain**"
    yield (
        f"{baseline.metric}: a random order has {number(expected)} in expectation; the 99.9 % interval of "
        f"`{BASELINE}`, [{number(low)}, {number(high)}], {verdict} it."
    )


def _not_ranked(grid: Grid) -> Iterable[str]:
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for metric in grid.metrics:
        for cell in grid.column(metric):
            if cell.reason and cell.reason != grid.table.reason:
                places[cell.method, cell.reason].append(metric)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for (method, reason), metrics in places.items():
        alike[reason, tuple(metrics)].append(f"`{method}`")
    for (reason, where), methods in alike.items():
        said = "" if where == grid.metrics else f" in {', '.join(where)}"
        yield f"Not ranked: {', '.join(methods)}{said}: {plain(reason)}."


def spread(grids: Sequence[Grid]) -> str:
    """A folded table for each grid of how far the means of the seeds lie apart."""
    if len(grids[0].table.seeds) < 2:
        return "One seed: there is no spread over seeds to show."
    title = "Standard deviation of the mean over seeds (never pooled into the intervals above)"
    return markdown.folded(title, "\n\n".join(map(_deviations, grids)))


def _deviations(grid: Grid) -> str:
    rows = []
    for method in grid.methods:
        cells = (grid.cells.get((method, metric)) for metric in grid.metrics)
        rows.append([f"`{method}`", *(number(cell.seed_spread) if cell else markdown.NOTHING for cell in cells)])
    return markdown.table(["method", *grid.metrics], rows, right=range(1, len(grid.metrics) + 1))
