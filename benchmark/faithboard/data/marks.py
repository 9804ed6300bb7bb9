"""What a split says of its marked tokens: how many there are, and how well several people agree on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from faithboard.data.text import Words
from faithboard.task import Task


@dataclass
class Marks:
    """Collected text by text, as they are used; nothing depends on their order."""

    task: Task
    shares: list[float] = field(default_factory=list)
    """Marked share of the scorable tokens of each text with a marked one."""
    agreements: list[float] = field(default_factory=list)
    """Token F1 of each annotator against the union of the others, mean over those of one text."""

    def add(self, words: Words, kept: int) -> None:
        """A text of which the first `kept` words are used."""
        parts = {"text": (words.rationale or ())[:kept], "query": words.query_rationale or ()}
        flags = [flag for part in self.task.explained for flag in parts[part]]
        if any(flags):
            lengths = {"text": kept, "query": len(words.query)}
            self.shares.append(sum(flags) / sum(lengths[part] for part in self.task.explained))
        found = agreement(words.annotators)
        if found is not None:
            self.agreements.append(found)

    @property
    def share(self) -> float | None:
        """Mean over the texts with a marked token, rounded to millionths; None without any."""
        return _mean(self.shares)

    @property
    def agreement(self) -> float | None:
        """Mean over the texts that several people marked; None without any."""
        return _mean(self.agreements)


def agreement(annotators: Sequence[Sequence[bool]]) -> float | None:
    """Token F1 of each annotator against the union of the others, mean over annotators (flags over the same tokens).

    One who marked nothing that others did has 0. None where it says nothing: no two people, or nobody marked a token.
    """
    found = []
    for at, own in enumerate(annotators):
        others = [any(flags) for flags in zip(*annotators[:at], *annotators[at + 1 :], strict=True)]
        if len(annotators) > 1 and any((*own, *others)):
            hits = sum(a and b for a, b in zip(own, others, strict=True))
            found.append(2 * hits / (sum(own) + sum(others)))
    return math.fsum(found) / len(found) if found else None


def _mean(values: Sequence[float]) -> float | None:
    return round(math.fsum(values) / len(values), 6) if values else None
