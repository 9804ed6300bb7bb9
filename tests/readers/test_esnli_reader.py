from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from faithboard.errors import DataError
from faithboard.readers.esnli import ANNOTATORS, Highlights, MarkedPair, read_pairs

PREMISE, HYPOTHESIS = "A  well-known man, (old) & tall.", "He's 6'4\"."


@pytest.fixture
def row() -> dict[str, str]:
    """A row as published, in which nothing is highlighted."""
    pair = {"pairID": "1r1n", "gold_label": "neutral", "Sentence1": PREMISE, "Sentence2": HYPOTHESIS}
    return pair | {f"Sentence{sentence}_Highlighted_{number}": "{}" for number in ANNOTATORS for sentence in (1, 2)}


def read(folder: Path, *rows: dict[str, str]) -> list[MarkedPair]:
    with (folder / "esnli_dev.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return list(read_pairs(folder / "esnli_dev.csv"))


def marked(sentence: str, spans: tuple[tuple[int, int], ...]) -> list[str]:
    return [sentence[start:end] for start, end in spans]


def test_each_annotator_has_highlights_of_both_sentences(tmp_path: Path, row: dict[str, str]) -> None:
    row |= {"Sentence1_Highlighted_1": "3,2", "Sentence2_Highlighted_1": "0", "Sentence1_Highlighted_3": "4,5"}
    (pair,) = read(tmp_path, row)
    assert (pair.label, pair.premise, pair.hypothesis) == ("neutral", PREMISE, HYPOTHESIS)
    first, second, third = pair.annotators
    # Two blanks have an empty word between them, so number 2 is the second word one sees.
    assert marked(PREMISE, first.premise) == ["man", "well", "known"]
    assert marked(HYPOTHESIS, first.hypothesis) == ["He", "s"]
    assert second == Highlights((), ())
    # A word that is punctuation marks nothing.
    assert marked(PREMISE, third.premise) == ["old"]


@pytest.mark.parametrize("highlighted", ["7", "1,", "", "-1", "{1}", "1 2"])
def test_a_highlight_that_is_no_word_names_file_line_and_column(
    tmp_path: Path, row: dict[str, str], highlighted: str
) -> None:
    with pytest.raises(DataError, match=r"esnli_dev\.csv, line 3, Sentence1_Highlighted_2: .* none of the 7 words"):
        read(tmp_path, row, row | {"Sentence1_Highlighted_2": highlighted})


def test_a_missing_column_is_named(tmp_path: Path, row: dict[str, str]) -> None:
    del row["Sentence2_Highlighted_3"]
    with pytest.raises(DataError, match=r"line 1: no column Sentence2_Highlighted_3"):
        read(tmp_path, row)


def starred(sentence: str) -> Iterator[str]:
    """Runs of letters and digits in the words that stand between asterisks, in the order of the sentence."""
    for word in sentence.split():
        if len(word) > 2 and word[0] == word[-1] == "*":
            yield from re.findall(r"[^\W_]+", word)


@pytest.mark.data
@pytest.mark.parametrize(("split", "rows"), [("dev", 9_842), ("test", 9_824)])
def test_published_highlights_are_the_words_between_asterisks(data_root: Path, split: str, rows: int) -> None:
    path = data_root / "e-snli" / f"esnli_{split}.csv.gz"
    published = pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records")
    pairs = list(read_pairs(path))
    assert len(pairs) == len(published) == rows
    for pair, stated in zip(pairs, published, strict=True):
        for number, highlights in zip(ANNOTATORS, pair.annotators, strict=True):
            for sentence, spans, column in [
                (pair.premise, highlights.premise, f"Sentence1_marked_{number}"),
                (pair.hypothesis, highlights.hypothesis, f"Sentence2_marked_{number}"),
            ]:
                assert marked(sentence, tuple(sorted(spans))) == list(starred(stated[column]))
