"""The table of a task's page that says what each method costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from faithboard.report import layout, markdown
from faithboard.report.markdown import amount, percent
from faithboard.stats.board import Board, Cost, Table
from faithboard.stats.costs import described

HEADERS = (
    *("method", "forward steps", "backward steps", "examples/s", "tokens/s"),
    *("spread", "peak memory (MB)", "batch size"),
)
ENERGY = "J/example"
"""A column that is only there where some device counts its energy."""


def cost_table(board: Board, table: Table) -> str:
    """The Markdown of the costs of a table, its methods in their order; empty when it has none."""
    by_method = {cost.method: cost for cost in board.costs if cost.table == table.key}
    costs = [by_method[method] for method in layout.methods(board, table) if method in by_method]
    if not costs:
        return ""
    energy = any(cost.joules_per_example is not None for cost in costs)
    rows = [
        [
            f"`{cost.method}`",
            amount(cost.forward_steps),
            amount(cost.backward_steps),
            *_speed(cost),
            amount(cost.peak_memory_mb),
            markdown.NOTHING if cost.batch_size is None else str(cost.batch_size),
            *([amount(cost.joules_per_example)] * energy),
        ]
        for cost in costs
    ]
    headers = [*HEADERS, *([ENERGY] * energy)]
    body = markdown.table(headers, rows, right=range(1, len(headers)))
    return "\n\n".join([_setting(table), body, *_notes(table, costs)])


def _speed(cost: Cost) -> list[str]:
    """Examples and tokens per second and the spread; nothing for a method that asks the model for no step at all.

    What such a method takes is the overhead of the call, which says nothing of its cost.
    """
    if cost.forward_steps == 0 and cost.backward_steps == 0:
        return [markdown.NOTHING] * 3
    spread = markdown.NOTHING if cost.spread is None else percent(cost.spread)
    return [amount(cost.examples_per_second), amount(cost.tokens_per_second), spread]


def _setting(table: Table) -> str:
    if not table.timing:
        return "Nothing was timed; steps are token steps through the encoder per example and draw."
    return (
        f"Timed on {described(table.timing)}: the explain step alone, one draw, median over repeats and seeds; the "
        "spread is over repeats. Memory is counted above the weights."
    )


def _notes(table: Table, costs: Sequence[Cost]) -> list[str]:
    by_reason: dict[str, list[str]] = defaultdict(list)
    for cost in costs:
        if cost.reason and table.timing:
            by_reason[cost.reason].append(f"`{cost.method}`")
    lines = [f"- No speed: {', '.join(methods)}: {reason}." for reason, methods in by_reason.items()]
    return ["\n".join(lines)] if lines else []
