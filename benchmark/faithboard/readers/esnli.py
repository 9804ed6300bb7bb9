"""The e-SNLI format (Camburu et al. 2018): a csv of sentence pairs with the words that each annotator highlighted.

Columns end in the number of the annotator. `Sentence1_Highlighted_2` is `{}` or word numbers from 0 in any order, such
as `3,1`, over what single blanks separate in `Sentence1`: between two blanks there is an empty word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from faithboard.errors import DataError
from faithboard.readers.tables import read_rows

Spans = tuple[tuple[int, int], ...]
"""[start, end) over the characters of a sentence."""

ANNOTATORS = (1, 2, 3)
"""Of dev and test. Each training pair has one."""
_COLUMNS = tuple(f"Sentence{sentence}_Highlighted_{number}" for number in ANNOTATORS for sentence in (1, 2))
_LETTERS = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Highlights:
    """What one annotator marked: the runs of letters and digits in the highlighted words of each sentence.

    They touch every token of a highlighted word except pure punctuation, however the sentence is tokenised.
    """

    premise: Spans
    hypothesis: Spans


@dataclass(frozen=True)
class MarkedPair:
    """A premise, a hypothesis, how they relate, and the highlights of each annotator."""

    label: str
    premise: str
    hypothesis: str
    annotators: tuple[Highlights, ...]


def read_pairs(path: Path) -> Iterator[MarkedPair]:
    """The pairs of the published dev or test file, in its order.

    Raises DataError with file and line for a missing column and for a highlight that is no word of its sentence.
    """
    for line, row in read_rows(path, required=("gold_label", "Sentence1", "Sentence2", *_COLUMNS)):
        annotators = tuple(_highlights(row, number, f"{path}, line {line}") for number in ANNOTATORS)
        yield MarkedPair(row["gold_label"], row["Sentence1"], row["Sentence2"], annotators)


def _highlights(row: Mapping[str, str], number: int, where: str) -> Highlights:
    def spans(sentence: str) -> Spans:
        column = f"{sentence}_Highlighted_{number}"
        return _spans(row[sentence], row[column], f"{where}, {column}")

    return Highlights(spans("Sentence1"), spans("Sentence2"))


def _spans(sentence: str, highlighted: str, where: str) -> Spans:
    if highlighted == "{}":
        return ()
    words = sentence.split(" ")
    starts = list(accumulate((len(word) + 1 for word in words), initial=0))
    spans: list[tuple[int, int]] = []
    for number in highlighted.split(","):
        if not number.isdecimal() or int(number) >= len(words):
            raise DataError(
                f"{where}: {number!r} is none of the {len(words)} words of its sentence, which are numbered from 0; "
                "expected {} or numbers with commas"
            )
        start = starts[int(number)]
        spans += ((start + run.start(), start + run.end()) for run in _LETTERS.finditer(words[int(number)]))
    return tuple(spans)
