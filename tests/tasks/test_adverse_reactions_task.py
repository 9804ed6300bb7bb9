from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from faithboard.data import load, sample
from faithboard.errors import DataError
from faithboard.readers.files import read_lines, required
from faithboard.session import describe
from tasks.adverse_reactions import ADE, ADR
from tests.tasks.published import write_hub

SECRET = "my private tweet"
TWEETS = [(f"tweet number {at} about a drug that i take", int(at % 5 == 0)) for at in range(50)]


def write_tweets(folder: Path, rows: Iterable[tuple[object, ...]], header: str = "text,label") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    (folder / "adr.csv").write_text("\n".join(lines) + "\n")


def test_tweets_without_a_split_column_are_cut_per_class_and_it_is_said(tmp_path: Path) -> None:
    write_tweets(tmp_path / "adr", TWEETS)
    data = load(ADR, cache=tmp_path, root=tmp_path)
    assert data.cut == ("dev", "test")
    assert "dev and test cut off the training texts" in describe(data)
    assert {split: counts.per_class for split, counts in data.counts.items()} == {
        "train": {"none": 28, "adverse reaction": 7},
        "dev": {"none": 4, "adverse reaction": 1},
        "test": {"none": 8, "adverse reaction": 2},
    }


def test_a_split_column_is_used_and_nothing_is_cut(tmp_path: Path) -> None:
    names = ["test"] * 10 + ["dev"] * 10 + ["train"] * 30
    write_tweets(tmp_path / "adr", [(*row, name) for row, name in zip(TWEETS, names, strict=True)], "text,label,split")
    data = load(ADR, cache=tmp_path, root=tmp_path)
    assert data.cut == ()
    assert {split: counts.read for split, counts in data.counts.items()} == {"train": 30, "dev": 10, "test": 10}


@pytest.mark.parametrize("empty", ["train", "dev", "test"])
def test_an_empty_split_of_a_split_column_is_an_error_rather_than_cut(tmp_path: Path, empty: str) -> None:
    others = [split for split in ("train", "dev", "test") if split != empty]
    rows = [(*row, others[at // 10 % 2]) for at, row in enumerate(TWEETS)]
    write_tweets(tmp_path / "adr", rows, "text,label,split")
    with pytest.raises(DataError, match=rf"adr\.csv: the {empty} split is empty"):
        load(ADR, cache=tmp_path, root=tmp_path)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        ("text,label", (SECRET, "yes"), r"adr\.csv, line 2: the label is neither 0 nor 1"),
        ("text,label", (SECRET, SECRET), r"adr\.csv, line 2: the label is neither"),
        ("text,label,split", (SECRET, 1, SECRET), r"adr\.csv, line 2: the split is none of train, dev, test"),
        (f"{SECRET},0", (SECRET, 1), r"adr\.csv, line 1: no column text, label"),
        ("text,label", (SECRET, 1, SECRET), r"adr\.csv, line 2: 3 fields instead of 2"),
        ("text,label", (f'"{SECRET}', 1), r"adr\.csv, line 2: broken quoting"),
    ],
)
def test_errors_name_place_and_rule_but_quote_no_tweet(
    tmp_path: Path, header: str, row: tuple[object, ...], message: str
) -> None:
    write_tweets(tmp_path / "adr", [row], header)
    with pytest.raises(DataError, match=message) as caught:
        load(ADR, cache=tmp_path, root=tmp_path)
    assert SECRET not in str(caught.value)
    assert not (tmp_path / "data").exists()


def test_missing_tweets_name_file_and_licence_step(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"adr\.csv") as caught:
        load(ADR, cache=tmp_path, root=tmp_path)
    for part in ("sign the authors' agreement", "on request", "columns text, label"):
        assert part in str(caught.value)


def test_the_two_tasks_are_never_mixed_up() -> None:
    assert ADR.private
    assert not ADE.private
    assert ADR.folder != ADE.folder
    assert not ADR.fingerprints


def publish(folder: Path) -> None:
    folder.mkdir()
    relations = [f"1|Drug {word} did some harm here .|harm|1|2|drug|3|4" for word in "abcdefghij" for _ in range(2)]
    (folder / "DRUG-AE.rel").write_text("\n".join(relations) + "\n")
    (folder / "ADE-NEG.txt").write_text("".join(f"2 NEG All is NEG with {word} today .\n" for word in "abcdefghijj"))


def test_a_sentence_counts_once_however_many_relations_it_has(tmp_path: Path) -> None:
    publish(tmp_path / "ade")
    data = load(ADE, cache=tmp_path, root=tmp_path)
    assert sum(counts.read for counts in data.counts.values()) == 31
    assert data.counts["train"].excluded_rule == 11
    assert {split: counts.per_class for split, counts in data.counts.items()} == {
        "train": {"none": 7, "adverse reaction": 7},
        "dev": {"none": 1, "adverse reaction": 1},
        "test": {"none": 2, "adverse reaction": 2},
    }
    assert all("neg" in example.tokens for example in data.splits["test"] if example.label == 0)


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("DRUG-AE.rel", "1|a sentence|effect", r"DRUG-AE\.rel, line 1: 3 fields"),
        ("ADE-NEG.txt", "1 a sentence", r"ADE-NEG\.txt, line 1: '1 a sentence'"),
    ],
)
def test_a_line_in_another_form_is_an_error(tmp_path: Path, name: str, line: str, message: str) -> None:
    publish(tmp_path / "ade")
    (tmp_path / "ade" / name).write_text(f"{line}\n")
    with pytest.raises(DataError, match=message):
        load(ADE, cache=tmp_path, root=tmp_path)


@pytest.mark.data
def test_published_counts_and_hub(tmp_path: Path, data_root: Path) -> None:
    files = load(ADE, cache=tmp_path / "cache", root=data_root)
    assert sum(counts.read for counts in files.counts.values()) == 6_821 + 16_695
    sentences = {label: sum(counts.per_class_before[label] for counts in files.counts.values()) for label in ADE.labels}
    assert sentences == {"none": 16_625, "adverse reaction": 4_271}
    assert {split: counts.here for split, counts in files.counts.items()} == ADE.published_rows
    assert files.fingerprint_name == "published"
    assert {example.label for example in sample(files, "test", 16)} == {0, 1}
    folder = data_root / "ade"
    positive = [line.split("|")[1] for _, line in read_lines(required(folder, ["DRUG-AE.rel"]))]
    negative = [line.split(" NEG ", 1)[1] for _, line in read_lines(required(folder, ["ADE-NEG.txt"]))]
    rows = [{"text": text, "label": 1} for text in positive] + [{"text": text, "label": 0} for text in negative]
    write_hub(tmp_path / "hub" / "Ade_corpus_v2_classification", {"train": rows})
    hub = load(ADE, cache=tmp_path / "cache", root=tmp_path / "hub", origin="hub")
    assert hub.fingerprint_name == "published"
    assert all(list(hub.splits[split]) == list(files.splits[split]) for split in files.splits)
    write_hub(tmp_path / "less", {"train": rows[:-1]})
    with pytest.raises(DataError, match="refused"):
        load(ADE, cache=tmp_path / "cache", root=tmp_path / "less", origin="hub")
