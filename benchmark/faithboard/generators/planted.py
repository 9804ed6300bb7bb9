"""Text of known truth: filler words in which one planted word alone decides the label.

The filler is drawn without looking at the label, so nothing else can be learned from it.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate, product

from faithboard.rng import seed_of
from faithboard.task import Record

FILLER_WORDS = 400
SHORTEST, LONGEST = 8, 30
"""Words of a text, the planted one included; lengths are uniform between them."""


def filler() -> tuple[str, ...]:
    """Invented words, commonest first."""
    syllables = ["".join(pair) for pair in product("bdfgklmnprstvz", "aeiou")]
    words = ["".join(pair) for pair in product(syllables, repeat=2)]
    # A stride without common factor visits each word once and mixes the alphabet over the ranks.
    return tuple(words[at * 1357 % len(words)] for at in range(FILLER_WORDS))


class Filler:
    """Texts of filler: frequencies fall as 1 / (rank + 2) (Zipf)."""

    def __init__(self) -> None:
        self._words = filler()
        self._reach = list(accumulate(1 / (rank + 2) for rank in range(len(self._words))))

    def text(self, length: int, draw: Callable[[], float]) -> list[str]:
        """`length` words; `draw` gives uniform numbers in [0, 1), one for each."""
        return [self._words[bisect(self._reach, draw() * self._reach[-1])] for _ in range(length)]


def records(planted: Mapping[str, str], split: str, count: int) -> Iterator[Record]:
    """`count` texts of `split`, with the word planted for their label exactly once, at a uniformly random place.

    `planted` gives the word of each label; labels are drawn uniformly. The same arguments give the same records. Splits
    draw from streams of their own.
    """
    # `random()` is the one stream that Python promises to keep over its versions.
    draw = random.Random(seed_of("planted", *sorted(planted.values()), split)).random
    words, labels = Filler(), tuple(planted)
    for number in range(count):
        label = labels[int(draw() * len(labels))]
        length = SHORTEST + int(draw() * (LONGEST - SHORTEST + 1))
        text = words.text(length, draw)
        at = int(draw() * length)
        text[at] = planted[label]
        yield Record(f"{split}-{number}", tuple(text), label, rationale=((at, at + 1),))
