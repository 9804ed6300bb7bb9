from __future__ import annotations

import csv
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from faithboard.data import load, sample
from faithboard.data.collate import collate, rationale_mask
from faithboard.data.text import tokenise
from faithboard.errors import DataError
from faithboard.readers.files import required
from faithboard.readers.tables import read_rows
from faithboard.task import SPLITS
from tasks.nli import COLUMNS, ESNLI, ESNLI_FILES, HUB_LABELS, SNLI, convert_snli

HUB_SPLITS = {"train": "train", "dev": "validation", "test": "test"}
PAIRS = [
    ("neutral", 'A "well-known" man, 64, sings.', "He's happy."),
    ("-", "Two men sit.", "They rest."),
    ("contradiction", "Two men sit.", "They stand!"),
    ("entailment", "Two men sit.", "Men sit."),
]


def publish_snli(folder: Path, form: str = "jsonl") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for split in SPLITS:
        lines = [json.dumps(dict(zip(COLUMNS, pair, strict=True))) for pair in PAIRS]
        if form == "txt":
            lines = ["\t".join(cells) for cells in (COLUMNS, *PAIRS)]
        (folder / f"snli_1.0_{split}.{form}").write_text("\n".join(lines))


def publish_esnli(folder: Path) -> None:
    """Three annotators of which the second highlights in the premise `well-known` and `man,`, the third `happy.`."""
    folder.mkdir(parents=True)
    for split in ("dev", "test"):
        with (folder / f"esnli_{split}.csv").open("w", newline="", encoding="utf-8") as file:
            sides = [f"Sentence{side}_Highlighted_{number}" for number in (1, 2, 3) for side in (1, 2)]
            writer = csv.writer(file)
            writer.writerow(["pairID", "gold_label", "Sentence1", "Sentence2", *sides])
            for label, premise, hypothesis in PAIRS[:1] + PAIRS[2:]:
                writer.writerow([f"{label}#1", label, premise, hypothesis, "{}", "{}", "2,1", "0", "{}", "1"])


def test_pairs_without_a_label_are_dropped_by_rule(tmp_path: Path) -> None:
    publish_snli(tmp_path / "snli" / "snli_1.0")
    data = load(SNLI, cache=tmp_path, root=tmp_path)
    assert (data.counts["test"].read, data.counts["test"].excluded_rule, data.counts["test"].used) == (4, 1, 3)
    first, *others = data.splits["test"]
    assert [example.label for example in (first, *others)] == [0, 1, 2]
    assert first.tokens == ("a", '"', "well", "-", "known", '"', "man", ",", "qqq", ",", "sings", ".")
    assert first.query == ("he", "'s", "happy", ".")
    batch = collate([first], data.vocabulary, SNLI)
    assert int(batch.scorable_lengths) == len(first.tokens)


@pytest.mark.parametrize("form", ["txt", "zip"])
def test_all_published_forms_hold_the_same(tmp_path: Path, form: str) -> None:
    publish_snli(tmp_path / "one" / "snli" / "snli_1.0")
    expected = load(SNLI, cache=tmp_path, root=tmp_path / "one")
    other = tmp_path / "other" / "snli"
    if form == "txt":
        publish_snli(other / "snli_1.0", "txt")
    else:
        other.mkdir(parents=True)
        with zipfile.ZipFile(other / "snli_1.0.zip", "w") as archive:
            for path in sorted((tmp_path / "one" / "snli" / "snli_1.0").iterdir()):
                archive.write(path, f"snli_1.0/{path.name}")
    found = load(SNLI, cache=tmp_path, root=tmp_path / "other")
    assert found.fingerprint == expected.fingerprint
    assert list(found.splits["test"]) == list(expected.splits["test"])


def test_the_hub_counts_its_classes_otherwise_and_gives_the_same_data(tmp_path: Path) -> None:
    publish_snli(tmp_path / "files" / "snli" / "snli_1.0")
    rows = [
        {"premise": premise, "hypothesis": hypothesis, "label": -1 if label == "-" else HUB_LABELS.index(label)}
        for label, premise, hypothesis in PAIRS
    ]
    assert [row["label"] for row in rows] == [1, -1, 2, 0]
    (tmp_path / "hub" / "plain_text").mkdir(parents=True)
    for name in HUB_SPLITS.values():
        pd.DataFrame(rows).to_parquet(tmp_path / "hub" / "plain_text" / f"{name}-00000-of-00001.parquet")
    files = load(SNLI, cache=tmp_path, root=tmp_path / "files")
    hub = load(SNLI, cache=tmp_path, root=tmp_path / "hub", origin="hub")
    assert hub.fingerprint == files.fingerprint
    assert all(list(hub.splits[split]) == list(files.splits[split]) for split in SPLITS)
    known = replace(SNLI, fingerprints={"published": "0" * 64})
    with pytest.raises(DataError, match=r"has the fingerprint .* refused"):
        load(known, cache=tmp_path, root=tmp_path / "hub", origin="hub")


def test_without_a_class_on_the_hub_means_minus_one_alone() -> None:
    row = {"premise": "Two men sit.", "hypothesis": "Men sit."}
    assert convert_snli("dev", 3, {**row, "label": -1}) is None
    for label in (-2, 3, None, "entailment", 1.0):
        with pytest.raises(DataError, match=rf"split dev, row 3: label {label!r} is no class"):
            convert_snli("dev", 3, {**row, "label": label})


def test_a_file_without_labels_names_the_column(tmp_path: Path) -> None:
    folder = tmp_path / "snli" / "snli_1.0"
    publish_snli(folder, "txt")
    path = folder / "snli_1.0_train.txt"
    path.write_text(path.read_text().replace("gold_label", "label"))
    with pytest.raises(DataError, match=r"snli_1\.0_train\.txt, line 1: no column gold_label"):
        load(SNLI, cache=tmp_path, root=tmp_path)


def test_a_sentence_that_is_no_string_names_file_and_line(tmp_path: Path) -> None:
    publish_snli(tmp_path / "snli" / "snli_1.0")
    path = tmp_path / "snli" / "snli_1.0" / "snli_1.0_dev.jsonl"
    path.write_text(path.read_text().replace('"They rest."', "null"))
    with pytest.raises(DataError, match=r"snli_1\.0_dev\.jsonl, line 2: sentence2 is no string"):
        load(SNLI, cache=tmp_path, root=tmp_path)


def test_both_sentences_are_explained_and_a_highlighted_word_marks_its_tokens_but_punctuation(tmp_path: Path) -> None:
    publish_snli(tmp_path / "snli" / "snli_1.0")
    publish_esnli(tmp_path / "e-snli")
    data = load(ESNLI, cache=tmp_path, root=tmp_path)
    assert [example.rationale for example in data.splits["train"]] == [None] * 3
    assert len(data.splits["dev"]) == 3
    first = data.splits["test"][0]
    batch = collate([first], data.vocabulary, ESNLI)
    words = [*first.tokens, "<sep>", *first.query, "<sep>"]
    marked = rationale_mask([first], batch)[0].tolist()
    assert [word for word, flag in zip(words, marked, strict=True) if flag] == [
        "well",
        "known",
        "man",
        "he",
        "'s",
        "happy",
    ]
    assert int(batch.scorable_lengths) == len(words) - 2


def test_the_annotators_of_e_snli_are_kept_as_what_they_agree_on(tmp_path: Path) -> None:
    publish_snli(tmp_path / "snli" / "snli_1.0")
    publish_esnli(tmp_path / "e-snli")
    data = load(ESNLI, cache=tmp_path, root=tmp_path)
    # One marks nothing, the others mark different words: nobody agrees with anybody. Training pairs have one annotator.
    assert [data.counts[split].agreement for split in ("train", "dev", "test")] == [None, 0.0, 0.0]
    assert data.counts["train"].rationale_share is None
    share = data.counts["test"].rationale_share
    assert share is not None
    assert 0 < share < 1


def test_the_folder_of_snli_is_looked_for_beside_e_snli(tmp_path: Path) -> None:
    publish_esnli(tmp_path / "e-snli")
    with pytest.raises(
        DataError, match=r"(?s)train: \.\./snli/snli_1\.0/snli_1\.0_train\.jsonl.*folder snli beside it"
    ):
        load(ESNLI, cache=tmp_path, root=tmp_path)


@pytest.mark.data
def test_published_snli_pairs(tmp_path: Path, data_root: Path) -> None:
    data = load(SNLI, cache=tmp_path, root=data_root)
    assert {split: counts.read for split, counts in data.counts.items()} == {
        "train": 20_963,
        "dev": SNLI.published_rows["dev"],
        "test": SNLI.published_rows["test"],
    }
    assert data.counts["train"].excluded_rule == 2
    assert data.counts["dev"].per_class == {"neutral": 3_235, "contradiction": 3_278, "entailment": 3_329}
    assert data.counts["test"].per_class == {"neutral": 3_219, "contradiction": 3_237, "entailment": 3_368}
    assert data.fingerprint_name == "shared-subset"
    assert {example.label for example in sample(data, "test", 16)} == {0, 1, 2}


def between_asterisks(starred: str) -> list[bool]:
    """For each character of the sentence without its asterisks whether it stands in a word between two of them."""
    words = [
        (word[1:-1], True) if len(word) > 2 and word[0] == word[-1] == "*" else (word, False)
        for word in starred.split(" ")
    ]
    return [flag for word, flag in words for _ in f"{word} "]


@pytest.mark.data
def test_highlights_are_the_tokens_of_the_words_between_asterisks(tmp_path: Path, data_root: Path) -> None:
    data = load(ESNLI, cache=tmp_path, root=data_root)
    assert {split: counts.used for split, counts in data.counts.items()} == {
        "train": 20_961,
        "dev": 9_842,
        # One hypothesis of a single token is no sequence to explain.
        "test": 9_823,
    }
    assert data.fingerprint_name == "shared-subset"
    assert {example.label for example in sample(data, "test", 16)} == {0, 1, 2}
    rows = [row for _, row in read_rows(required(data_root / "e-snli", ESNLI_FILES["test"]))]
    for example in data.splits["test"]:
        row = rows[int(example.id.removeprefix("test-"))]
        for side, flags in [(1, example.rationale), (2, example.query_rationale)]:
            sentence = row[f"Sentence{side}"]
            starred = [between_asterisks(row[f"Sentence{side}_marked_{number}"]) for number in (1, 2, 3)]
            # Some marked sentences begin with a blank that the sentence does not have.
            aligned = [marks[len(marks) - len(sentence) - 1 :] for marks in starred]
            tokens = tokenise(sentence)
            expected = [
                any(marks[start] for marks in aligned) and any(letter.isalnum() for letter in word)
                for word, (start, _) in zip(tokens.words, tokens.offsets, strict=True)
            ]
            assert list(flags or ()) == expected
