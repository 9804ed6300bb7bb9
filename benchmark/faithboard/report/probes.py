"""What was asked of the model itself, as a table of a task's page."""

from __future__ import annotations

from faithboard.report import markdown
from faithboard.report.markdown import number, percent, with_interval
from faithboard.stats.board import Board, Table

PROBES = """\
Questions to the model itself: `tau` is Kendall's tau-b between two importance measures of one text's tokens (attention,
gradient, leave-one-out); sd is over examples. Texts too short for p <= 0.05 to be reached are not testable: the share
of significant ones leaves them out."""


def probe_table(board: Board, table: Table) -> str:
    """The Markdown of what was asked of a table's model; empty where nothing was."""
    asked = [one for one in board.probes if one.table == table.key]
    if not asked:
        return ""
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
