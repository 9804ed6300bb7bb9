"""The table of a task's page that says which methods change when the model does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

from faithboard.report import layout, markdown
from faithboard.report.markdown import number, percent, plain, with_interval
from faithboard.stats.agreed import SanityCheck
from faithboard.stats.board import Board, Table
from faithboard.stats.sanity import LABELS, PARAMETERS

SANITY = """
Does an explanation change when what the model knows is taken away (Adebayo et al. 2018)? Kendall's tau-b between the
magnitudes of the scores on the trained model and on one whose parameters are drawn anew, or that was trained on
shuffled labels. The standard to hold it against is the tau between models trained with different seeds; a method fails
where the tau is at least half of that. `?` marks a verdict that another sample of texts could turn: its interval
contains both. Passing shows that the model plays a part, no more. A method that reads the text alone does not change
and fails; so does one of chance alone where parameters are drawn anew, as its random numbers stay.
""".strip()

CHECKS: Mapping[Literal["parameter-randomisation", "label-randomisation"], str] = {
    PARAMETERS: "parameters anew",
    LABELS: "shuffled labels",
}


def sanity_tables(board: Board, table: Table) -> str:
    """The Markdown of the checks of a table, and of the layers one by one; empty when it has none."""
    own = [one for one in board.sanity if one.table == table.key]
    if not own:
        return ""
    methods = _ordered(board, table, own)
    cells = {(one.method, one.check): one for one in own}
    kinds = [check for check in CHECKS if any(one.check == check for one in own)]
    headers = ["method", "other seeds"]
    for check in kinds:
        headers += [CHECKS[check], "verdict"]
    rows = []
    for method in methods:
        found = [cells[method, check] for check in kinds if (method, check) in cells]
        row = [f"`{method}`", with_interval(found[0].seeds_tau, found[0].seeds_low, found[0].seeds_high)]
        for check in kinds:
            one = cells.get((method, check))
            row += [with_interval(one.tau, one.low, one.high), _verdict(one)] if one else [markdown.NOTHING] * 2
        rows.append(row)
    return "\n\n".join(
        part for part in (SANITY, markdown.table(headers, rows), _notes(own), _layers(methods, own)) if part
    )


def _ordered(board: Board, table: Table, own: Sequence[SanityCheck]) -> list[str]:
    known = {one.method for one in own}
    first = [method for method in layout.methods(board, table) if method in known]
    return [*first, *sorted(known - set(first))]


def _verdict(one: SanityCheck) -> str:
    if one.passed is None:
        return markdown.NOTHING
    unsure = one.margin_low is not None and one.margin_high is not None and one.margin_low <= 0 <= one.margin_high
    return ("passes" if one.passed else "**fails**") + (" ?" if unsure else "")


def _notes(own: Sequence[SanityCheck]) -> str:
    by_reason: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in own:
        if one.reason:
            by_reason[one.check, one.reason].append(f"`{one.method}`")
    lines = [f"- {check}: no verdict on {', '.join(m)}: {plain(reason)}." for (check, reason), m in by_reason.items()]
    lines += [
        f"- {one.check}: `{one.method}` undefined on {percent(one.undefined_share)} of the examples, and between seeds "
        f"on {percent(one.seeds_undefined_share)}: all words scored alike."
        for one in own
        if one.undefined_share or one.seeds_undefined_share
    ]
    return "\n".join(lines)


def _layers(methods: Sequence[str], own: Sequence[SanityCheck]) -> str:
    curves = {one.method: dict(zip(one.points, one.curve, strict=True)) for one in own if one.curve}
    if not curves:
        return ""
    points = list(dict.fromkeys(point for one in own for point in one.points))
    rows = [
        (f"`{method}`", *(number(curves[method].get(point)) for point in points))
        for method in methods
        if method in curves
    ]
    headers = ("method", *points)
    body = markdown.table(headers, rows, right=range(1, len(headers)))
    return f"Layers drawn anew from the output down, each with those before it:\n\n{body}"
