"""Which metrics of a suite a table has nothing of: what is not on a page was not run, or cannot be."""

from __future__ import annotations

from faithboard import suites
from faithboard.metric import Metric, RationaleMetric
from faithboard.resolve import resolve, resolve_all
from faithboard.stats.board import Board, Table


def not_run(board: Board, table: Table) -> str:
    """A sentence that names the metrics without a line, of those that the built-in suite asks of the table's task.

    Empty when there are none, and for a board of no built-in suite or of another version of it: what that one asked is
    not in its lines.
    """
    if table.suite not in suites.names():
        return ""
    suite = suites.load(table.suite)
    if suite.version != table.suite_version or table.task not in suite.tasks:
        return ""
    marks = resolve("task", table.task).value.rationale
    shown = {one.metric for one in board.standings if one.table == table.key}
    shown |= {one.probe for one in board.probes if one.table == table.key}
    shown |= {one.check for one in board.sanity if one.table == table.key}
    asked: list[Metric] = [one.value for one in resolve_all("metric", suite.metrics)]
    missing = [one.name for one in asked if _applies(one, marks) and not shown.intersection(one.rows)]
    return f"Not run here: {', '.join(f'`{name}`' for name in missing)}." if missing else ""


def _applies(metric: Metric, marks: str | None) -> bool:
    """Whether the marked tokens of a task, if it has any, are what the metric is about."""
    return not isinstance(metric, RationaleMetric) or marks in metric.of
