"""The table of the page about the models that says what trainings cost beside standard training."""

from __future__ import annotations

from faithboard.report import layout, markdown
from faithboard.report.markdown import amount
from faithboard.stats.board import Board
from faithboard.stats.costs import described

ABOUT = """
An epoch of each training and one of standard training beside it: the same task, model and batches, in one run. Memory
is the most that is held at once for backward passes, on the batch of the longest texts; weights, gradients and
optimiser take the same in all of them.
""".strip()

HEADERS = (
    *("task", "model", "training", "seconds per epoch", "standard", "times standard"),
    *("MiB held for backward", "standard", "times standard", "measured on"),
)


def training_cost_table(board: Board) -> str:
    """The Markdown of what was measured (`faithboard train --measure-cost`); empty where nothing was."""
    rows = []
    for table in board.tables:
        if cost := table.training_cost:
            pairs = [(cost[name], cost[f"standard_{name}"]) for name in ("seconds", "memory_mb")]
            shown = [(amount(own), amount(standard), f"{own / standard:.1f}") for own, standard in pairs]
            rows.append(
                (
                    layout.task_name(board, table),
                    table.model,
                    table.training,
                    *shown[0],
                    *shown[1],
                    described(cost),
                )
            )
    return f"{ABOUT}\n\n{markdown.table(HEADERS, rows, right=range(3, 9))}" if rows else ""
