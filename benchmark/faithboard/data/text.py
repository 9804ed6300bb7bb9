"""From published text to words: tokenising, case, digits, and rationales carried along (definitions, section 1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from faithboard.errors import DataError
from faithboard.task import Record, TextRules

Span = tuple[int, int]
"""[start, end)."""

_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Tokenised:
    """Words of a string, with the characters each came from."""

    words: tuple[str, ...]
    offsets: tuple[Span, ...]
    """`text[start:end]` is the word, for each word in order."""


def tokenise(text: str) -> Tokenised:
    """The words of `text` by spaCy's rule-based English tokeniser; runs of blanks are no words.

    Raises DataError when spaCy is not installed.
    """
    words: list[str] = []
    offsets: list[Span] = []
    for token in _english()(text):
        if not token.is_space:
            words.append(token.text)
            offsets.append((token.idx, token.idx + len(token.text)))
    return Tokenised(tuple(words), tuple(offsets))


@cache
def _english() -> Any:
    try:
        import spacy
    except ModuleNotFoundError as error:
        raise DataError(
            'this task has untokenised text, which needs the spaCy tokeniser: pip install "faithboard[text]"'
        ) from error
    return spacy.blank("en").tokenizer


def normalise(words: Iterable[str], rules: TextRules) -> tuple[str, ...]:
    """The words with the case and digit rules applied, one for one."""
    return tuple(map(_normalised(rules.lower, rules.digits).__getitem__, words))


class _Normalised(dict[str, str]):
    """Published word -> word under the rules; each word is one string, however many texts have it."""

    def __init__(self, lower: bool, digits: str | None) -> None:
        super().__init__()
        self._lower = lower
        self._digits = digits

    def __missing__(self, word: str) -> str:
        if self._digits is not None and _DIGIT.search(word):
            self[word] = self._digits
        else:
            # Looked up again, so that `Film` and `film` share one string.
            self[word] = self[word.lower()] if self._lower and word != word.lower() else word
        return self[word]


@cache
def _normalised(lower: bool, digits: str | None) -> _Normalised:
    return _Normalised(lower, digits)


@dataclass(frozen=True)
class Words:
    """A record after the word rules, before any length rule."""

    text: tuple[str, ...]
    query: tuple[str, ...]
    rationale: tuple[bool, ...] | None
    """One flag per word of `text`."""
    query_rationale: tuple[bool, ...] | None
    """One flag per word of `query`."""
    annotators: tuple[tuple[bool, ...], ...] = ()
    """What each of several people marked: one flag per word of `text`, then of `query`."""


def words_of(record: Record, rules: TextRules) -> Words:
    """Words of text and query, and the rationale of each as flags over its words.

    A span over the characters of a string marks every word it touches. Raises DataError for a span that is empty or
    ends outside its text.
    """
    texts, queries = zip(*record.annotators, strict=True) if record.annotators else ((), ())
    text, (rationale, *own) = _words(record.text, (record.rationale, *texts), f"record {record.id}: rationale")
    query, (query_rationale, *own_query) = _words(
        record.query, (record.query_rationale, *queries), f"record {record.id}: query rationale"
    )
    annotators = tuple((*(first or ()), *(second or ())) for first, second in zip(own, own_query, strict=True))
    return Words(normalise(text, rules), normalise(query, rules), rationale, query_rationale, annotators)


def _words(
    text: str | tuple[str, ...], marks: Sequence[Sequence[Span] | None], where: str
) -> tuple[tuple[str, ...], list[tuple[bool, ...] | None]]:
    """The words of a text, and of each list of spans one flag per word that says whether one touches it, or None."""
    for start, end in (span for spans in marks for span in spans or ()):
        if not 0 <= start < end <= len(text):
            unit = "characters" if isinstance(text, str) else "tokens"
            raise DataError(f"{where} [{start}, {end}) lies outside its text of {len(text)} {unit}")
    if isinstance(text, str):
        tokenised = tokenise(text)
        words, places = tokenised.words, tokenised.offsets
    else:
        words, places = text, tuple((at, at + 1) for at in range(len(text))) if any(marks) else ()
    return words, [None if spans is None else _touched(spans, places, len(words)) for spans in marks]


def _touched(spans: Sequence[Span], places: Sequence[Span], count: int) -> tuple[bool, ...]:
    """For each of `count` words whether a span touches its place."""
    if not spans:
        return (False,) * count
    return tuple(any(start < right and left < end for start, end in spans) for left, right in places)
