"""Texts with words taken away for good, so that a model can be trained on what is left of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from faithboard.task import Example, Task


def scorable_length(example: Example, task: Task) -> int:
    """T: number of the tokens that an explanation scores."""
    return sum(len(part) for name, part in _parts(example) if name in task.explained)


def bin_size(length: int, share: int) -> int:
    """ceil(q T) tokens of T, for a share q in per cent; in integers, as `metrics.eraser.bin_sizes`."""
    return (length * share + 99) // 100


def without(example: Example, drop: Sequence[bool], task: Task) -> Example:
    """The example without the marked of its T scorable tokens, which stand in the order of a batch.

    What is left keeps its order; query, label and candidates stay, marks of people are left out. Collated, it is
    `Batch.without` the same tokens. Raises ValueError for another number of flags than T.
    """
    if len(drop) != scorable_length(example, task):
        raise ValueError(f"{example.id} has {scorable_length(example, task)} scorable tokens, got {len(drop)} flags")
    flags = iter(drop)
    text, query = (
        tuple(word for word in part if not next(flags)) if name in task.explained else part
        for name, part in _parts(example)
    )
    return replace(example, tokens=text, query=query, rationale=None, query_rationale=None)


def _parts(example: Example) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return ("text", example.tokens), ("query", example.query)
