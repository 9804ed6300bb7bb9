"""Words planted into texts that say nothing of the label: alone, in pairs, in an order, or behind a negation.

A text has one planting of its label. What surrounds it, invented filler or a real sentence, is chosen without looking
at the label.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from faithboard.errors import DataError
from faithboard.generators.planted import LONGEST, SHORTEST, Filler
from faithboard.rng import seed_of
from faithboard.task import Record

Swaps = Mapping[tuple[str, ...], str]
"""What can stand in the places of planted words, one for one -> the label of the text then; an empty string takes a
word away."""
Draw = Callable[[], float]
"""A uniform number in [0, 1)."""


NEITHER = "neither"
"""Label of texts in which nothing decides. They teach a model what to make of a text whose planted words are gone."""


@dataclass(frozen=True)
class Planting:
    """Words that make a text one of `label`."""

    label: str
    words: tuple[str, ...]
    """In the order of the text. They are marked, but where the label is `NEITHER`."""
    swaps: Swaps = field(default_factory=dict)
    adjacent: bool = False
    """Whether they stand side by side; else each has a place of its own."""
    stray: str = ""
    """A word that is planted too, behind the others, where it decides nothing. It is not marked."""


def singles(words: Mapping[str, str]) -> tuple[Planting, ...]:
    """The word of the label; none in texts of neither."""
    labels = tuple(words)
    return Planting(NEITHER, ()), *(
        Planting(label, (words[label],), {(words[other],): other, ("",): NEITHER})
        for label, other in zip(labels, (*labels[1:], labels[0]), strict=True)
    )


def pairs(labels: tuple[str, str], first: tuple[str, str], second: tuple[str, str]) -> tuple[Planting, ...]:
    """One word of each pair, in either order: the label says whether they have the same place in their pairs.

    Every word is as common under one label as under the other, and alone it is in a text of neither.
    """
    found = [Planting(NEITHER, words) for words in ((), *((word,) for word in (*first, *second)))]
    for a, b in product((0, 1), repeat=2):
        label, other = labels[a ^ b], labels[1 - (a ^ b)]
        one, two = first[a], second[b]
        swaps: Swaps = {(first[1 - a], two): other, (one, second[1 - b]): other, (one, ""): NEITHER, ("", two): NEITHER}
        turned: Swaps = {swap[::-1]: label for swap, label in swaps.items()}
        found += [Planting(label, (one, two), swaps), Planting(label, (two, one), turned)]
    return tuple(found)


def orders(labels: tuple[str, str], words: tuple[str, str]) -> tuple[Planting, ...]:
    """Both words: the label says which comes first. One alone is in a text of neither."""
    found = [Planting(NEITHER, own) for own in ((), (words[0],), (words[1],))]
    for label, other, (one, two) in ((*labels, words), (*labels[::-1], words[::-1])):
        found.append(Planting(label, (one, two), {(two, one): other, (one, ""): NEITHER, ("", two): NEITHER}))
    return tuple(found)


def negations(words: Mapping[str, str], negation: str) -> tuple[Planting, ...]:
    """A word of the label, or that of the other label right behind `negation`.

    The negation stands somewhere behind the word in half of the texts in which it turns nothing, and without such a
    word in texts of neither: that it is there says nothing, only what it is followed by. It never stands before a word
    that it does not turn: without what lies between, which is not marked, it would turn it.
    """
    found = [Planting(NEITHER, ()), Planting(NEITHER, (negation,))]
    labels = tuple(words)
    for label, other in (labels, labels[::-1]):
        own, opposite = words[label], words[other]
        plain: Swaps = {(opposite,): other, ("",): NEITHER}
        turned: Swaps = {(negation, own): other, ("", opposite): other, (negation, ""): NEITHER}
        found += [Planting(label, (own,), plain), Planting(label, (own,), plain, stray=negation)]
        found += [Planting(label, (negation, opposite), turned, adjacent=True)] * 2
    return tuple(found)


def swaps_of(plantings: Sequence[Planting]) -> dict[tuple[str, ...], Swaps]:
    """Marked words -> their swaps: what `Task.swaps` wants."""
    return {planting.words: planting.swaps for planting in plantings if planting.swaps}


def plant(text: Sequence[str], planting: Planting, draw: Draw) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...]]:
    """The text, of at least one word, with those of a planting inserted at uniformly random places, and their spans.

    A stray word is inserted at a uniformly random place behind them.
    """
    units = [planting.words] if planting.adjacent else [(word,) for word in planting.words]
    total = len(text) + len(units) + bool(planting.stray)
    places = sorted(_distinct(len(units), total - bool(planting.stray), draw))
    at: dict[int, tuple[str, ...]] = dict(zip(places, units, strict=True))
    loose = -1
    if planting.stray:
        behind = range(places[-1] + 1, total)
        loose = behind[int(draw() * len(behind))]
    rest = iter(text)
    words: list[str] = []
    spans: list[tuple[int, int]] = []
    for place in range(total):
        if place in at:
            spans.append((len(words), len(words) + len(at[place])))
            words += at[place]
        else:
            words.append(planting.stray if place == loose else next(rest))
    return tuple(words), tuple(spans)


def chosen(plantings: Sequence[Planting], split: str, draw: Draw) -> Planting:
    """One of them: the label is uniform, then the planting among those of the label. No test text is of neither."""
    possible = [planting for planting in plantings if split != "test" or planting.label != NEITHER]
    labels = sorted({planting.label for planting in possible})
    label = labels[int(draw() * len(labels))]
    own = [planting for planting in possible if planting.label == label]
    return own[int(draw() * len(own))]


def records(name: str, plantings: Sequence[Planting], split: str, count: int) -> Iterator[Record]:
    """`count` texts of `split`: filler of 8 to 30 words, the planted ones included, as in `generators.planted`.

    The same arguments give the same records. Splits draw from streams of their own, and so does each name.
    """
    draw = random.Random(seed_of(name, split)).random
    filler = Filler()
    for number in range(count):
        planting = chosen(plantings, split, draw)
        length = SHORTEST + int(draw() * (LONGEST - SHORTEST + 1))
        text = filler.text(length - len(planting.words) - bool(planting.stray), draw)
        yield _record(f"{split}-{number}", text, planting, draw)


def planted_into(name: str, plantings: Sequence[Planting], split: str, number: int, text: Sequence[str]) -> Record:
    """A real text with a planting; its own label plays no part. Draws belong to name, split and number.

    Raises DataError for a text that has one of the planted words already.
    """
    draw = random.Random(seed_of(name, split, number)).random
    known = {word for planting in plantings for word in (*planting.words, planting.stray)}
    if there := sorted(known & {word.lower() for word in text}):
        raise DataError(f"{name}: text {split}-{number} has the word {there[0]}, which is to be planted; plant another")
    return _record(f"{split}-{number}", text, chosen(plantings, split, draw), draw)


def _record(name: str, text: Sequence[str], planting: Planting, draw: Draw) -> Record:
    words, spans = plant(text, planting, draw)
    return Record(name, words, planting.label, rationale=() if planting.label == NEITHER else spans)


def _distinct(count: int, below: int, draw: Draw) -> list[int]:
    """`count` different whole numbers from 0 up to `below`, every ordered choice equally likely."""
    left = list(range(below))
    return [left.pop(int(draw() * len(left))) for _ in range(count)]
