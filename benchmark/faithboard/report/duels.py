"""Two methods side by side, as text for a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from itertools import groupby

from tabulate import tabulate

from faithboard.report.markdown import number, p_value
from faithboard.stats.duel import Duel

WIDTH = 80
_ARROWS = {"higher": "↑", "lower": "↓"}
_HEADERS = ("metric", "A", "B", "A - B", "+/=/-", "better")
"""`+`, `=` and `-` count the examples on which A is better, ties and is worse."""


def duels_text(found: Sequence[Duel]) -> str:
    """One table per suite and trained model, and what the metrics say together. `found` holds one pair of methods."""
    first = found[0].comparison
    parts = [f"A = {first.a}\nB = {first.b}"]
    for (suite, table), members in groupby(found, lambda duel: (duel.suite, duel.comparison.table)):
        parts.append(_table(suite, table, list(members)))
    parts.append(_summary(found))
    return "\n\n".join(parts)


def _table(suite: str, table: str, members: Sequence[Duel]) -> str:
    own = members[0].comparison
    seeds = ", ".join(map(str, members[0].seeds))
    counts = sorted({duel.comparison.n for duel in members})
    examples = " to ".join(f"{count:,}" for count in dict.fromkeys((counts[0], counts[-1])))
    title = f"{own.task}: {own.model}, {own.training} training, seed {seeds}; {examples} examples ({suite})"
    text = tabulate(map(_row, members), _HEADERS, tablefmt="simple", disable_numparse=True)
    return "\n".join([textwrap.fill(title, WIDTH), text, *_notes(members)])


def _row(duel: Duel) -> tuple[str, ...]:
    own = duel.comparison
    better = {own.a: "A", own.b: "B"}.get(own.better, "=")
    return (
        f"{own.metric} {_ARROWS[duel.direction]}",
        number(duel.value_a),
        number(duel.value_b),
        f"{number(own.difference)} [{number(own.low)}, {number(own.high)}]",
        f"{own.wins}/{own.ties}/{own.losses}",
        f"{better} ({p_value(own.p)})",
    )


def _notes(members: Iterable[Duel]) -> list[str]:
    notes: dict[str, None] = {}
    for duel in members:
        own = duel.comparison
        if duel.reservation:
            notes[f"not ranked on a leaderboard: {duel.reservation}"] = None
        if duel.left_out:
            notes[f"{own.metric}: {duel.left_out} examples left out, undefined for A or B"] = None
        if not own.better and own.p <= 0.05 and not own.same_sign:
            notes[f"{own.metric}: no method is better, as the difference is 0 or of the other sign in a seed"] = None
    return [textwrap.fill(note, WIDTH, subsequent_indent="  ") for note in notes]


def _summary(found: Sequence[Duel]) -> str:
    a, b = found[0].comparison.a, found[0].comparison.b
    won = {name: sum(duel.comparison.better == name for duel in found) for name in (a, b)}
    text = (
        f"{a} is better in {won[a]} of {len(found)} comparisons, {b} in {won[b]}; in {len(found) - won[a] - won[b]} "
        "they cannot be told apart. +/=/-: examples on which A wins, ties, loses. Better: sign-flip test over "
        "examples, p <= 0.05, one sign in every seed. Intervals: 95%, bootstrap over examples."
    )
    return textwrap.fill(text, WIDTH, break_on_hyphens=False)
