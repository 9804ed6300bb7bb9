"""The part of a task's page about one trained model: its tables, and a note for everything a number cannot say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from faithboard.report import layout, markdown
from faithboard.report.agreement import operator_warnings
from faithboard.report.costs import cost_table
from faithboard.report.curves import curves
from faithboard.report.layout import Grid
from faithboard.report.markdown import amount, number, percent, plain, with_interval
from faithboard.report.plausibility import about
from faithboard.report.sanity import sanity_tables
from faithboard.stats.board import Board, Comparison, Cost, ProbeSummary, Standing, Table
from faithboard.stats.entries import BASELINE

BESIDE = """\
These metrics read the scores themselves, not the order they give. A value of `completeness` is a median over examples,
of methods that promise a sum, and is not ranked. A method that looks at nothing never moves: `max-sensitivity` ranks
stability, which is not faithfulness."""


RETRAINED = """\
`roar` and `recursive-roar` delete the words of largest |score| from all splits and train a fresh model on the rest: the
value is the accuracy that is left, a mean over the shares removed. Of a method with several draws they take one. What
is removed can itself tell the class (Rong et al. 2022), and accuracy that stays high can mean that words repeat each
other, not that a method is unfaithful: `recursive-roar` explains the rest anew at each share."""

PROBES = """\
Questions to the model itself: `tau` is Kendall's tau-b between two importance measures of one text's tokens (attention,
gradient, leave-one-out); sd is over examples. Texts too short for p <= 0.05 to be reached are not testable: the share
of significant ones leaves them out."""


def section(board: Board, table: Table) -> str:
    """The Markdown of one trained model: grids with their notes, paired differences, costs, probes."""
    parts = [f"## {table.model}, {table.training} training{_of_which_data(board, table)}"]
    if table.reason:
        parts.append(f"**Nothing here is ranked: {plain(table.reason)}.**")
    if table.known_truth:
        parts.append(_verified(table.known_truth))
    grid = layout.faithfulness(board, table)
    if grid.methods:
        parts += ["### Faithfulness", grid_table(grid), _notes(grid), *_spread(grid), _against_random(board, grid)]
        parts += [RETRAINED] * any(cell.metric_kind == "retraining" for cell in grid.cells.values())
        parts.append(curves(grid))
        parts += [f"{warning} See [metrics.md](metrics.md)." for warning in operator_warnings(board, table)]
    beside = layout.beside_order(board, table)
    if beside.methods:
        parts += ["### Scores as amounts, and under noise", BESIDE, grid_table(beside), _notes(beside)]
        parts.append(_against_random(board, beside))
    marked = layout.plausibility(board, table)
    if marked.methods:
        parts += ["### Plausibility", about(table, marked), grid_table(marked), _notes(marked)]
        parts.append(_against_random(board, marked))
    if checks := sanity_tables(board, table):
        parts += ["### Sanity", checks]
    if table_of_costs := cost_table(board, table):
        parts += ["### Cost", table_of_costs]
    asked = [one for one in board.probes if one.table == table.key]
    if asked:
        parts += ["### Probes of the model", _probes(table, asked)]
    return "\n\n".join(part for part in parts if part)


def _of_which_data(board: Board, table: Table) -> str:
    """What tells the table from others of its model and training; empty while there are none."""
    others = [t for t in board.tables if (t.task, t.model, t.training) == (table.task, table.model, table.training)]
    version = f" version {table.task_version}" if len({other.task_version for other in others}) > 1 else ""
    data = f" {table.fingerprint_name} data `{table.fingerprint[:8]}`" if len(others) > 1 else ""
    return f" on{version}{data}" if data else ""


def _verified(truth: Mapping[str, float]) -> str:
    verdict = "is verified to use" if truth["verified"] else "is **not** verified to use"
    return (
        f"The model {verdict} the planted tokens: accuracy {number(truth['accuracy'])} with them, "
        f"{number(truth['accuracy-without'])} without; swapping them flips {percent(truth['flip-rate'])} of decisions."
    )


def grid_table(grid: Grid) -> str:
    """The Markdown table of a grid: values and ranks of every method, and how many steps it takes."""
    headers = ["method"]
    for metric in grid.metrics:
        headers += [grid.header(metric), "rank"]
    headers.append("steps per example")
    rows = []
    for method in grid.methods:
        row = [f"`{method}`"]
        for metric in grid.metrics:
            row += [grid.value(method, metric), _rank(grid, method, metric)]
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


def _notes(grid: Grid) -> str:
    lines = ["Steps: token steps through the encoder per example and draw, forward + backward."]
    lines.append(f"Examples: {', '.join(map(_counted, map(grid.column, grid.metrics)))}.")
    for metric in grid.metrics:
        cells = grid.column(metric)
        lines += _expectation(cells)
        lines += [f"{metric}: {words}: {count:,} examples." for words, count in _special(cells).items()]
        undefined = [f"`{cell.method}` {percent(cell.undefined_share)}" for cell in cells if cell.undefined_share]
        if undefined:
            stands_in = f", given the value of `{BASELINE}`" if BASELINE in grid.methods else ""
            lines.append(f"{metric}: undefined examples{stands_in}: {', '.join(undefined)}.")
    truncated = max(cell.truncated for cell in grid.cells.values())
    if truncated:
        lines.append(f"{truncated:,} of the explained examples were cut at the task's length limit.")
    lines += _not_ranked(grid)
    return "\n".join(f"- {line}" for line in lines)


def _counted(cells: Sequence[Standing]) -> str:
    most = max(cells, key=lambda cell: cell.n)
    left = f" ({most.excluded:,} excluded for every method alike)" if most.excluded else ""
    return f"{most.metric} {most.n:,}{left}"


def _special(cells: Sequence[Standing]) -> Mapping[str, int]:
    """What holds for some of the examples, the same for every method."""
    return max((cell.counts for cell in cells), key=len, default={})


def _expectation(cells: Sequence[Standing]) -> Iterable[str]:
    baseline = next((cell for cell in cells if cell.method == BASELINE), None)
    expected = next((cell.expectation for cell in cells if cell.expectation is not None), None)
    if baseline is None or expected is None or baseline.low is None or baseline.high is None:
        return
    verdict = "contains" if baseline.low <= expected <= baseline.high else "**does not contain**"
    yield (
        f"{baseline.metric}: a random order has {number(expected)} in expectation; the interval of "
        f"`{BASELINE}`, [{number(baseline.low)}, {number(baseline.high)}], {verdict} it."
    )


def _not_ranked(grid: Grid) -> Iterable[str]:
    by_reason: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for metric in grid.metrics:
        for cell in grid.column(metric):
            if cell.reason and cell.reason != grid.table.reason:
                by_reason[cell.reason][cell.method].append(metric)
    for reason, methods in by_reason.items():
        for method, metrics in methods.items():
            where = "" if len(metrics) == len(grid.metrics) else f" in {', '.join(metrics)}"
            yield f"Not ranked: `{method}`{where}: {plain(reason)}."


def _spread(grid: Grid) -> list[str]:
    if len(grid.table.seeds) < 2:
        return ["One seed: there is no spread over seeds to show."]
    headers = ["method", *(f"{metric}, sd over seeds" for metric in grid.metrics)]
    rows = [
        [
            f"`{method}`",
            *(
                number(cell.seed_spread) if (cell := grid.cells.get((method, metric))) else "-"
                for metric in grid.metrics
            ),
        ]
        for method in grid.methods
    ]
    return [
        "Spread of the mean over seeds (never pooled into the intervals above):",
        markdown.table(headers, rows, right=range(1, len(headers))),
    ]


def _against_random(board: Board, grid: Grid) -> str:
    pairs = [pair for pair in board.comparisons if pair.table == grid.table.key and BASELINE in (pair.a, pair.b)]
    rows = []
    for metric in grid.metrics:
        found = {
            other: pair for pair in pairs if pair.metric == metric for other in (pair.a, pair.b) if other != BASELINE
        }
        rows += [_paired(metric, method, found[method]) for method in grid.methods if method in found]
    if not rows:
        return ""
    headers = ("metric", "method", f"difference to {BASELINE}", "wins / ties / losses", "p (Holm)", "better")
    body = markdown.table(headers, rows, right=(3, 4))
    return markdown.folded(f"Every method against <code>{BASELINE}</code>, paired", body)


def _paired(metric: str, method: str, pair: Comparison) -> tuple[str, ...]:
    turned = pair.a == BASELINE
    difference, low, high = (
        (-pair.difference, -pair.high, -pair.low) if turned else (pair.difference, pair.low, pair.high)
    )
    wins, losses = (pair.losses, pair.wins) if turned else (pair.wins, pair.losses)
    return (
        metric,
        f"`{method}`",
        with_interval(difference, low, high),
        f"{wins:,} / {pair.ties:,} / {losses:,}",
        markdown.p_value(pair.p_holm),
        f"`{pair.better}`" if pair.better else "not told apart",
    )


def _probes(table: Table, asked: Sequence[ProbeSummary]) -> str:
    headers = (
        "probe",
        "predicted",
        "mean",
        "sd",
        "sd over seeds",
        "p <= 0.05",
        "not testable",
        "undefined",
        "examples",
    )
    rows = [
        (
            one.probe,
            "all" if one.predicted is None else f"class {one.predicted}",
            with_interval(one.value, one.low, one.high),
            number(one.example_spread),
            number(one.seed_spread),
            markdown.NOTHING if one.significant_share is None else percent(one.significant_share),
            markdown.NOTHING if one.untestable_share is None else percent(one.untestable_share),
            percent(one.undefined_share),
            f"{one.n:,}",
        )
        for one in asked
    ]
    partial = [one for one in asked if one.predicted is None and one.seeds != table.seeds]
    notes = "\n".join(f"- {one.probe}: results of seed {', '.join(map(str, one.seeds))} only." for one in partial)
    return "\n\n".join(part for part in (PROBES, markdown.table(headers, rows, right=range(3, 9)), notes) if part)
