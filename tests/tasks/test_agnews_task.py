from __future__ import annotations

import csv
from pathlib import Path

import pytest

from faithboard.data import load, sample
from faithboard.errors import DataError
from faithboard.readers.files import required
from faithboard.readers.tables import read_rows
from tasks.agnews import AGNEWS
from tests.tasks.published import write_hub

ROWS = [
    (str(1 + at % 4), f"Title {word}", f'He said "{word}"\\and went,\\\\then came')
    for at, word in enumerate(f"{left} {right}" for left in "abcde" for right in "vwxyz")
]


def publish(folder: Path) -> None:
    folder.mkdir(parents=True)
    for split in ("train", "test"):
        with (folder / f"{split}.csv").open("w", newline="") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(ROWS)


def test_two_classes_stay_and_a_backslash_is_a_line_break(tmp_path: Path) -> None:
    publish(tmp_path / "agnews")
    data = load(AGNEWS, cache=tmp_path, root=tmp_path)
    counts = data.counts["test"]
    assert (counts.read, counts.excluded_rule, counts.per_class) == (25, 12, {"World": 7, "Business": 6})
    assert data.cut == ("dev",)
    tokens = {" ".join(example.tokens) for example in data.splits["test"]}
    assert 'title a v he said " a v " and went , then came' in tokens


def test_files_and_hub_give_the_same_data(tmp_path: Path) -> None:
    publish(tmp_path / "agnews")
    rows = [{"text": f"{title} {text}", "label": int(number) - 1} for number, title, text in ROWS]
    write_hub(tmp_path / "hub", {"train": rows, "test": rows})
    files = load(AGNEWS, cache=tmp_path, root=tmp_path)
    hub = load(AGNEWS, cache=tmp_path, root=tmp_path / "hub", origin="hub")
    assert hub.fingerprint == files.fingerprint
    assert all(list(hub.splits[split]) == list(files.splits[split]) for split in files.splits)


def test_a_class_outside_the_four_names_the_line(tmp_path: Path) -> None:
    publish(tmp_path / "agnews")
    (tmp_path / "agnews" / "test.csv").write_text('"1","a","b"\n"5","c","d"\n')
    with pytest.raises(DataError, match=r"test\.csv, line 2: class '5'"):
        load(AGNEWS, cache=tmp_path, root=tmp_path)


def test_a_class_outside_the_four_on_the_hub_is_an_error(tmp_path: Path) -> None:
    rows = [{"text": "a b", "label": label} for label in (0, 1, -1)]
    write_hub(tmp_path, {"train": rows, "test": rows})
    with pytest.raises(DataError, match="split train, row 2: label -1 is no class"):
        load(AGNEWS, cache=tmp_path / "cache", root=tmp_path, origin="hub")


@pytest.mark.data
def test_counts_and_hub_on_real_data(tmp_path: Path, data_root: Path) -> None:
    files = load(AGNEWS, cache=tmp_path / "cache", root=data_root)
    before = {split: counts.per_class_before for split, counts in files.counts.items()}
    assert before["test"] == {"World": 1_900, "Business": 1_900}
    assert {label: before["train"][label] + before["dev"][label] for label in AGNEWS.labels} == {
        "World": 3_665,
        "Business": 3_678,
    }
    assert files.fingerprint_name == "shared-subset"
    assert {example.label for example in sample(files, "test", 8)} == {0, 1}
    rows = {
        split: [
            {"text": f"{row['b']} {row['c']}", "label": int(row["a"]) - 1}
            for _, row in read_rows(required(data_root / "agnews", [f"{split}.csv"]), columns=("a", "b", "c"))
        ]
        for split in ("train", "test")
    }
    write_hub(tmp_path / "hub", rows)
    hub = load(AGNEWS, cache=tmp_path / "cache", root=tmp_path / "hub", origin="hub")
    assert (hub.fingerprint, hub.fingerprint_name) == (files.fingerprint, "shared-subset")
    assert all(list(hub.splits[split]) == list(files.splits[split]) for split in files.splits)
