"""The bAbI format (Weston et al. 2015): numbered lines, questions with answer and supporting lines after tabs.

    1 Mary moved to the bathroom.
    2 John went to the hallway.
    3 Where is Mary? <TAB>bathroom<TAB>1

A line numbered 1 starts a new story.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from faithboard.errors import DataError
from faithboard.task import Record

_WORD = re.compile(r"\w+|[^\w\s]")
_EXPECTED = (
    "expected `N sentence` or `N question<TAB>answer<TAB>supporting line numbers`, numbered from 1 in each story"
)


@dataclass(frozen=True)
class Question:
    """One question with the story up to it."""

    line: int
    """Its number in the story."""
    story: tuple[str, ...]
    """Words and full stops of all sentences before it; earlier questions are no part of it."""
    words: tuple[str, ...]
    answer: str
    supporting: tuple[tuple[int, int], ...]
    """Spans over `story`, one per supporting sentence, in the published order."""

    def record(self, example_id: str) -> Record:
        return Record(example_id, self.story, self.answer, self.words, rationale=self.supporting)


Story = tuple[Question, ...]


def words_of(text: str) -> tuple[str, ...]:
    """Words and punctuation of sentences."""
    return tuple(_WORD.findall(text))


def read_stories(lines: Iterable[tuple[int, str]], name: str) -> Iterator[Story]:
    """The questions of each story, from numbered lines of the file called `name`.

    Raises DataError with file and line for a line that is not in the format, is out of sequence, or supports its answer
    by something that is no earlier sentence.
    """
    questions: list[Question] = []
    words: list[str] = []
    sentences: dict[int, tuple[int, int]] = {}
    previous = 0
    for at, line in lines:
        where = f"{name}, line {at}"
        number, content = _numbered(line, where)
        if number == 1 and previous:
            yield tuple(questions)
            questions, words, sentences, previous = [], [], {}, 0
        if number != previous + 1:
            raise DataError(f"{where}: number {number} after {previous}; {_EXPECTED}")
        previous = number
        if "\t" in content:
            questions.append(_question(number, content, tuple(words), sentences, where))
        else:
            sentence = _WORD.findall(content)
            sentences[number] = (len(words), len(words) + len(sentence))
            words.extend(sentence)
    if previous:
        yield tuple(questions)


def _numbered(line: str, where: str) -> tuple[int, str]:
    number, _, content = line.partition(" ")
    if not number.isascii() or not number.isdigit() or not content.strip():
        raise DataError(f"{where}: {line[:60]!r} has no number and text; {_EXPECTED}")
    return int(number), content


def _question(
    number: int, content: str, story: tuple[str, ...], sentences: dict[int, tuple[int, int]], where: str
) -> Question:
    parts = content.split("\t")
    if len(parts) != 3 or not parts[1].strip() or not parts[2].strip():
        raise DataError(f"{where}: a question with {len(parts)} tab-separated parts, or an empty one; {_EXPECTED}")
    supporting = parts[2].split()
    unknown = [fact for fact in supporting if not fact.isdigit() or int(fact) not in sentences]
    if unknown:
        raise DataError(f"{where}: supporting line {unknown[0]} is no earlier sentence of the story; {_EXPECTED}")
    return Question(
        number,
        story,
        tuple(_WORD.findall(parts[0])),
        parts[1].strip(),
        tuple(sentences[int(fact)] for fact in supporting),
    )
