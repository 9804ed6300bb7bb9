"""When a number counts as reproduced. The rules that the verdicts of a page follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

WITHIN = 0.08
"""Single published cells are one unseeded run each: they are expected to move by this much."""
FAR = 0.15
"""A cell that differs by more is named, with what may explain it."""
SUBSTITUTES = {"ade": "adr"}
"""A task that stands in for one of the paper whose data can no longer be had."""

DIFFERS: Literal["differs"] = "differs"
Verdict = Literal["within 0.08", "same sign and order", "differs", ""]
Place = tuple[str, str, str, int | None]
"""(task of the paper, model, pair, predicted class or None for all): a cell of the published table."""


def published_task(task: str) -> str:
    """The task of the paper that `task` is compared with."""
    return SUBSTITUTES.get(task, task)


def differ(ours: float, published: float, by: float = WITHIN) -> bool:
    """Whether two numbers are more than `by` apart. Published ones have few digits: a difference of `by` is within."""
    return abs(ours - published) > by + 1e-9


def verdict(ours: float, published: float | None, neighbours: Sequence[tuple[float, float]]) -> Verdict:
    """Verdict on one cell; `neighbours` are (ours, published) of the cells whose order with it counts.

    `same sign and order`: both numbers have one sign, and every neighbour that is published more than `WITHIN` away
    stands on the same side here. Without such a neighbour there is no order that could be the same, and the cell
    differs. Empty without a published number.
    """
    if published is None:
        return ""
    if not differ(ours, published):
        return "within 0.08"
    ordered = [(mine, theirs) for mine, theirs in neighbours if abs(theirs - published) > WITHIN]
    same_order = bool(ordered) and all((ours - mine) * (published - theirs) > 0 for mine, theirs in ordered)
    return "same sign and order" if ours * published > 0 and same_order else DIFFERS


def neighbours(
    place: Place, ours: Mapping[Place, float], published: Mapping[Place, float]
) -> list[tuple[float, float]]:
    """(ours, published) of the cells that one stands in order with: the other encoders with the same attention, pair
    and class, and the other pairs of the same model and class."""
    task, model, pair, predicted = place
    encoder, attention = model.split("-", 1)
    found = []
    for other, value in ours.items():
        if other == place or other not in published or (other[0], other[3]) != (task, predicted):
            continue
        other_encoder, other_attention = other[1].split("-", 1)
        same_model, same_pair = other[1] == model, other[2] == pair
        if same_model or (same_pair and other_attention == attention and other_encoder != encoder):
            found.append((value, published[other]))
    return found


def relative_verdict(ours: float, published: float) -> str:
    """For counts and lengths: within 8 % of the published number, or not."""
    return "within 8 %" if abs(ours - published) <= WITHIN * published else DIFFERS
