from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faithboard.data import load, loading, sample
from faithboard.errors import DataError
from faithboard.readers.files import read_lines, required
from faithboard.task import Record, Source, Task, TextRules

READ: list[str] = []
"""Splits that were parsed, in order."""


def read(folder: Path, split: str) -> Iterator[Record]:
    READ.append(split)
    for number, line in read_lines(required(folder, [f"{split}.txt"])):
        label, *words = line.split()
        yield Record(f"{split}-{number}", tuple(words), label)


def generate(split: str) -> Iterator[Record]:
    READ.append(split)
    for number in range(6):
        yield Record(f"{split}-{number}", ("word", f"w{'abcdef'[number]}"), "yes" if number % 2 else "no")


def task(**changes: Any) -> Task:
    settings: dict[str, Any] = {
        "name": "toy",
        "version": 1,
        "source": Source("Toy", "cited", "CC BY", "https://example.org/toy"),
        "labels": ("no", "yes"),
        "folder": "toy",
        "files": {split: (f"{split}.txt",) for split in ("train", "dev", "test")},
        "read": read,
    }
    return Task(**{**settings, **changes})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    READ.clear()
    (tmp_path / "root" / "toy").mkdir(parents=True)
    for split in ("train", "dev", "test"):
        (tmp_path / "root" / "toy" / f"{split}.txt").write_text("no A bad film\nyes A good film\nno X\n")
    return tmp_path / "root"


def test_files_become_counted_splits_with_the_vocabulary_of_the_training_split(tmp_path: Path, root: Path) -> None:
    (root / "toy" / "test.txt").write_text("yes unseen words\nno other words\n")
    loaded = load(task(), cache=tmp_path, root=root)
    assert loaded.origin == "files"
    assert [example.tokens for example in loaded.splits["train"]] == [("a", "bad", "film"), ("a", "good", "film")]
    assert loaded.vocabulary.words[5:] == ("a", "film", "bad", "good")
    assert loaded.counts["train"].excluded_short == 1
    assert list(loaded.splits) == ["train", "dev", "test"]
    assert loaded.fingerprint_name == "unverified"


def test_known_content_has_its_name(tmp_path: Path, root: Path) -> None:
    known = load(task(), cache=tmp_path, root=root).fingerprint
    assert load(task(fingerprints={"published": known}), cache=tmp_path, root=root).fingerprint_name == "published"


def test_a_second_load_parses_nothing(tmp_path: Path, root: Path) -> None:
    first = load(task(), cache=tmp_path, root=root)
    assert READ == ["train", "dev", "test"]
    second = load(task(), cache=tmp_path, root=root)
    assert READ == ["train", "dev", "test"]
    assert (second.fingerprint, second.counts, second.vocabulary) == (
        first.fingerprint,
        first.counts,
        first.vocabulary,
    )
    assert list(second.splits["test"]) == list(first.splits["test"])


def test_what_changes_the_content_is_read_again(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = load(task(), cache=tmp_path, root=root)
    with (root / "toy" / "train.txt").open("a") as file:
        file.write("yes another one\n")
    changed = load(task(), cache=tmp_path, root=root)
    assert len(changed.splits["train"]) == len(before.splits["train"]) + 1
    for other in (task(version=2), task(text=TextRules(lower=False)), task(labels=("yes", "no"))):
        READ.clear()
        load(other, cache=tmp_path, root=root)
        assert READ == ["train", "dev", "test"]
    READ.clear()
    monkeypatch.setattr(loading, "_code", lambda task: "a mended parser")
    load(task(), cache=tmp_path, root=root)
    assert READ == ["train", "dev", "test"]


def test_a_damaged_cache_entry_is_built_again(tmp_path: Path, root: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = load(task(), cache=tmp_path, root=root)
    for path in tmp_path.glob("data/*/meta.json"):
        path.write_text("{}")
    READ.clear()
    assert load(task(), cache=tmp_path, root=root).fingerprint == first.fingerprint
    assert READ == ["train", "dev", "test"]
    assert "is damaged" in caplog.text


def test_auto_takes_the_files_where_they_are_and_generates_otherwise(tmp_path: Path, root: Path) -> None:
    both = task(generate=generate)
    assert load(both, cache=tmp_path, root=root).origin == "files"
    assert load(both, cache=tmp_path).origin == "generated"
    (tmp_path / "other").mkdir()
    assert load(both, cache=tmp_path, root=tmp_path / "other").origin == "generated"
    assert load(both, cache=tmp_path, root=root, origin="generated").origin == "generated"


def test_a_folder_with_some_of_the_files_is_an_error_rather_than_generated(tmp_path: Path, root: Path) -> None:
    (root / "toy" / "dev.txt").unlink()
    with pytest.raises(DataError, match=r"(?s)dev\.txt.*example\.org/toy") as caught:
        load(task(generate=generate), cache=tmp_path, root=root)
    assert "train.txt" not in str(caught.value)
    assert READ == []


@pytest.mark.parametrize(
    ("changes", "origin", "message"),
    [
        ({}, "auto", "needs the folder of its published files"),
        ({}, "generated", "cannot be generated"),
        ({}, "hub", "not on the hub"),
        ({"read": None, "generate": generate}, "files", "it is generated"),
    ],
)
def test_an_origin_a_task_lacks_is_an_error(tmp_path: Path, changes: dict[str, Any], origin: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load(task(**changes), cache=tmp_path, origin=origin)


def test_a_data_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        load(task(generate=generate), cache=tmp_path, root=tmp_path / "typo")


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_a_split_of_one_class_is_an_error_in_a_binary_task(tmp_path: Path, root: Path, split: str) -> None:
    (root / "toy" / f"{split}.txt").write_text("no A bad film\nyes short\nno A dull film\n")
    with pytest.raises(DataError, match=rf"every usable text of the {split} split is of class 'no' \(2 of 3 rows"):
        load(task(), cache=tmp_path, root=root)
    assert not (tmp_path / "data").exists()
    assert load(task(labels=("no", "yes", "maybe")), cache=tmp_path, root=root).counts[split].used == 2


def test_ids_must_differ_over_all_splits(tmp_path: Path) -> None:
    def twice(split: str) -> Iterator[Record]:
        return (replace(record, id="same") for record in generate(split))

    with pytest.raises(DataError, match="example id same occurs 18 times"):
        load(task(generate=twice), cache=tmp_path)
    assert not (tmp_path / "data").exists()


def test_samples_are_nested_hashed_and_independent_of_the_order_of_the_file(tmp_path: Path) -> None:
    loaded = load(task(generate=generate), cache=tmp_path)
    ids = [example.id for example in sample(loaded, "test", 6)]
    assert ids == sorted(ids, key=lambda name: hashlib.sha256(f"toy\x1f{name}".encode()).digest())
    assert [example.id for example in sample(loaded, "test", 2)] == ids[:2]
    reverse = replace(loaded, splits={"test": list(loaded.splits["test"])[::-1]})
    assert [example.id for example in sample(reverse, "test", 6)] == ids
    assert len(sample(loaded, "test", 100)) == 6
