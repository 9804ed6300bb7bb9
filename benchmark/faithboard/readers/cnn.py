"""Cloze questions over CNN articles with entities as `@entityN` (Hermann et al. 2015), in the two published forms.

A `.question` file has five blocks with an empty line between: address, passage, question with `@placeholder`, answer,
names of the entities. The preprocessed form (Chen et al. 2016) is one file a split, three lines a question: question,
answer, passage, then an empty line. Both are tokenised, blanks between the tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from faithboard.errors import DataError
from faithboard.readers.files import read_lines, read_texts

_ENTITY = re.compile(r"@entity\d+")


@dataclass(frozen=True)
class Cloze:
    """One question."""

    name: str
    """The name of its file, or its number in the file from 0."""
    passage: tuple[str, ...]
    words: tuple[str, ...]
    answer: str

    @property
    def entities(self) -> tuple[str, ...]:
        """Those of the passage, each once, in order."""
        return tuple(dict.fromkeys(word for word in self.passage if _ENTITY.fullmatch(word)))


def read_questions(place: Path) -> Iterator[Cloze]:
    """The questions of a folder of `.question` files, or of one file in the preprocessed form.

    Raises DataError with the file, and the line, of a question that is not in its form.
    """
    return _from_file(place) if place.name.endswith((".txt", ".txt.gz")) else _from_folder(place)


def _from_folder(folder: Path) -> Iterator[Cloze]:
    for name, text in read_texts(folder):
        if name.endswith(".question"):
            blocks = text.split("\n\n")
            if len(blocks) != 5:
                raise DataError(
                    f"{folder / name}: {len(blocks)} blocks; expected five, with an empty line between: address, "
                    "passage, question, answer, entities"
                )
            yield _question(name.removesuffix(".question"), blocks[1], blocks[2], blocks[3], str(folder / name))


def _from_file(path: Path) -> Iterator[Cloze]:
    lines: list[str] = []
    count = last = 0
    for last, line in read_lines(path):
        if line.strip():
            lines.append(line)
        elif lines:
            yield _from_lines(lines, count, path, last - 1)
            lines, count = [], count + 1
    if lines:
        yield _from_lines(lines, count, path, last)


def _from_lines(lines: list[str], number: int, path: Path, last: int) -> Cloze:
    where = f"{path}, line {last}"
    if len(lines) != 3:
        raise DataError(
            f"{where}: the question that ends here has {len(lines)} lines; expected question, answer, passage"
        )
    question, answer, passage = lines
    return _question(str(number), passage, question, answer, where)


def _question(name: str, passage: str, question: str, answer: str, where: str) -> Cloze:
    cloze = Cloze(name, tuple(passage.split()), tuple(question.split()), answer.strip())
    if "@placeholder" not in cloze.words or not _ENTITY.fullmatch(cloze.answer):
        raise DataError(f"{where}: no question with @placeholder and answer @entityN; is it in another form?")
    return cloze
