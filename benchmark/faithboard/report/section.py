"""The part of a task's page about one trained model: its tables, and a note for everything a number cannot say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from faithboard.report import layout, markdown
from faithboard.report.agreement import operator_warnings
from faithboard.report.costs import cost_table
from faithboard.report.curves import curves
from faithboard.report.grids import grid_table, notes, spread
from faithboard.report.layout import Grid, Part
from faithboard.report.markdown import number, percent, plain
from faithboard.report.paired import against_random
from faithboard.report.plausibility import about
from faithboard.report.probes import probe_table
from faithboard.report.sanity import sanity_tables
from faithboard.report.unrun import not_run
from faithboard.report.words import explained
from faithboard.stats.board import Board, Table

AMOUNTS = "These metrics read the scores themselves, not the order they give."
RETRAINED = (
    "Of a method with several draws, metrics that train models take one. What is removed can itself tell the class "
    "(Rong et al. 2022), and accuracy that stays high can mean that words repeat each other, not that a method is "
    "unfaithful."
)


def section(board: Board, table: Table) -> str:
    """The Markdown of one trained model: grids with their notes, paired differences, costs, probes."""
    parts = [f"## {table.model}, {table.training} training{_of_which_data(board, table)}"]
    if table.reason:
        parts.append(f"**Nothing here is ranked: {plain(table.reason)}.**")
    if table.known_truth:
        parts.append(_verified(table.known_truth))
    if missing := not_run(board, table):
        parts.append(missing)
    grid = layout.faithfulness(board, table)
    if grid.methods:
        tables = layout.parts(board, table)
        parts += ["### Faithfulness", *(_part(part, own) for part, own in tables)]
        parts += [f"{warning} See [metrics.md](metrics.md)." for warning in operator_warnings(board, table)]
        parts += [notes(board, grid), spread([own for _, own in tables]), against_random(board, grid), curves(grid)]
    beside = layout.beside_order(board, table)
    if beside.methods:
        parts += ["### Scores as amounts, and under noise", AMOUNTS, _listed(explained(beside)), grid_table(beside)]
        parts += [notes(board, beside), against_random(board, beside)]
    marked = layout.plausibility(board, table)
    if marked.methods:
        parts += ["### Plausibility", about(table, marked), grid_table(marked), notes(board, marked)]
        parts.append(against_random(board, marked))
    if checks := sanity_tables(board, table):
        parts += ["### Sanity", checks]
    if table_of_costs := cost_table(board, table):
        parts += ["### Cost", table_of_costs]
    if probes := probe_table(board, table):
        parts += ["### Probes of the model", probes]
    return "\n\n".join(part for part in parts if part)


def _part(part: Part, grid: Grid) -> str:
    lines = explained(grid)
    if any(cell.metric_kind == "retraining" for cell in grid.cells.values()):
        lines.append(RETRAINED)
    body = "\n\n".join(filter(None, [_listed(lines), grid_table(grid)]))
    return markdown.folded(part.title, body) if part.folded else f"#### {part.title}\n\n{body}"


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


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
