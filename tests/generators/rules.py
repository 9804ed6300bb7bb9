"""What decides in planted texts, told from a text alone: the label by each rule in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress

import numpy as np

from faithboard.generators.planting import NEITHER

Rule = Callable[[Sequence[str]], str]
"""The words of a text -> its label."""


def one_word(words: Mapping[str, str]) -> Rule:
    """The label whose word is there."""
    label_of = {word: label for label, word in words.items()}
    return lambda text: next((label_of[word] for word in text if word in label_of), NEITHER)


def same_place(labels: tuple[str, str], first: tuple[str, str], second: tuple[str, str]) -> Rule:
    """Whether the words of two pairs have the same place in them."""

    def rule(text: Sequence[str]) -> str:
        own = {*text} & {*first, *second}
        return NEITHER if len(own) < 2 else labels[own not in ({first[0], second[0]}, {first[1], second[1]})]

    return rule


def first_comes(labels: tuple[str, str], words: tuple[str, str]) -> Rule:
    """Which of two words comes first."""

    def rule(text: Sequence[str]) -> str:
        own = tuple(word for word in text if word in words)
        return NEITHER if len(own) < 2 else labels[own != words]

    return rule


def in_context(words: Mapping[str, str], negation: str) -> Rule:
    """The label whose word is there, or the other one where a negation stands right before it."""
    own, (north, south) = one_word(words), tuple(words)

    def rule(text: Sequence[str]) -> str:
        said = next((at for at, word in enumerate(text) if word in words.values()), None)
        label = own(text)
        turned = said is not None and said > 0 and text[said - 1] == negation
        return label if not turned else south if label == north else north

    return rule


def with_unmarked_words_deleted(text: Sequence[str], marks: Sequence[bool]) -> Iterator[list[str]]:
    """The text without each single unmarked word, then without random sets of them, one of each possible size."""
    unmarked = [at for at, mark in enumerate(marks) if not mark]
    order = np.random.default_rng(len(text)).permutation(unmarked).tolist()
    for gone in [*([at] for at in unmarked), *(order[:size] for size in range(2, len(order) + 1))]:
        yield list(compress(text, (at not in gone for at in range(len(text)))))
