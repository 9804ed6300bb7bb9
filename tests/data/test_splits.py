from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faithboard.data import load
from faithboard.data.splits import cut, lacking, records_by_split
from faithboard.errors import DataError
from faithboard.task import Record, Source, Task

SHARES = {"dev": 0.1, "test": 0.2}


def task(**changes: Any) -> Task:
    source = Source("Toy", "cited", "CC BY", "https://example.org/toy")
    return Task(name="toy", version=1, source=source, labels=("no", "yes"), folder="toy", **changes)


def texts(number: int = 100) -> list[Record]:
    """Numbered by order; three of four are of class `no`."""
    return [
        Record(str(at), f"a text  about thing {at}", "yes" if at % 4 == 0 else "no", query=f"which? {at}")
        for at in range(number)
    ]


def parts(records: Iterable[Record | None]) -> dict[str, list[str]]:
    return {split: [r.id for r in part if r] for split, part in cut(records, SHARES).items()}


def test_every_class_is_cut_by_its_share_and_nothing_is_lost() -> None:
    per_split = {
        split: Counter(record.label for record in part if record) for split, part in cut(texts(), SHARES).items()
    }
    assert per_split == {
        "dev": Counter(no=8, yes=2),
        "test": Counter(no=15, yes=5),
        "train": Counter(no=52, yes=18),
    }
    assert sorted(id for part in parts(texts()).values() for id in part) == sorted(str(at) for at in range(100))


def test_neither_order_nor_ids_nor_blanks_change_the_cut() -> None:
    same = parts(texts())
    assert parts(texts()[::-1]) == same
    blanks = [replace(record, text=f" {record.text}\n".replace("  ", "\t")) for record in texts()]
    assert parts(blanks) == same
    tokens = [replace(record, text=tuple(str(record.text).split())) for record in texts()]
    assert parts(tokens) == same
    other = [replace(record, text=f"{record.text}!") for record in texts()]
    assert parts(other) != same


def test_classes_are_mixed_and_dropped_rows_stay_in_train() -> None:
    made = cut([None, *texts(), None], SHARES)
    labels = [record.label for record in made["train"] if record]
    assert labels != sorted(labels)
    assert labels != sorted(labels, reverse=True)
    assert made["train"].count(None) == 2
    assert None not in made["dev"] + made["test"]


def test_equal_texts_never_lie_on_both_sides() -> None:
    thrice = [replace(record, id=f"{record.id}.{copy}") for copy in range(3) for record in texts()]
    where = {id: split for split, part in parts(thrice).items() for id in part}
    assert all(where[f"{at}.0"] == where[f"{at}.1"] == where[f"{at}.2"] for at in range(100))


def test_equal_texts_of_several_classes_lie_on_one_side_and_shares_hold() -> None:
    both = [replace(record, id=f"{record.id}.{label}", label=label) for record in texts() for label in ("no", "yes")]
    alone = [Record(f"{at}.alone", f"of one class {at}", "yes") for at in range(50)]
    made = parts([*both, *alone])
    where = {id: split for split, part in made.items() for id in part}
    assert all(where[f"{at}.no"] == where[f"{at}.yes"] for at in range(100))
    per_split = {split: Counter(id.split(".")[1] for id in part) for split, part in made.items()}
    assert per_split["dev"] == Counter(no=10, yes=10, alone=5)
    assert per_split["test"] == Counter(no=20, yes=20, alone=10)
    other = parts([*alone, *both][::-1])
    assert {id: split for split, part in other.items() for id in part} == where


def test_only_splits_without_a_row_are_cut_off() -> None:
    has_dev = {"train": texts(), "dev": [Record("d", "of its own", "no")], "test": []}
    assert lacking(task(cut=SHARES), has_dev.__getitem__) == ("test",)
    assert lacking(task(), has_dev.__getitem__) == ()
    split = {name: list(records) for name, records in records_by_split(task(cut=SHARES), has_dev.__getitem__, ["test"])}
    assert {name: len(records) for name, records in split.items()} == {"train": 80, "dev": 1, "test": 20}


def test_repeats_become_dropped_rows_where_the_task_wants_distinct_texts() -> None:
    rows = [Record("1", "a b", "no"), Record("2", "a  b", "no"), Record("3", "a b", "yes"), None]

    def kept(chosen: Task) -> list[str | None]:
        split = dict(records_by_split(chosen, lambda name: rows if name == "train" else [], ()))
        return [record.id if record else None for record in split["train"]]

    assert kept(task(distinct=True)) == ["1", None, "3", None]
    assert kept(task()) == ["1", "2", "3", None]


def test_texts_without_an_id_are_named_by_their_content() -> None:
    rows = [Record("", "a b", "no"), Record("", "c", "no"), Record("own", "c", "no"), Record("", "a b", "no")]

    def ids(records: list[Record]) -> list[str]:
        split = dict(records_by_split(task(), lambda name: records, ()))
        return [record.id for record in split["test"] if record]

    first, second, own, repeat = ids(rows)
    assert (own, repeat) == ("own", f"{first}-2")
    assert first.startswith("test-")
    assert first != second
    assert set(ids(rows[::-1])) == {first, second, own, repeat}


def test_a_loaded_task_says_what_was_cut_off(tmp_path: Path) -> None:
    chosen = task(generate=lambda split: texts() if split == "train" else [], cut=SHARES)
    for data in (load(chosen, cache=tmp_path), load(chosen, cache=tmp_path)):
        assert data.cut == ("dev", "test")
        assert {split: counts.read for split, counts in data.counts.items()} == {"train": 70, "dev": 10, "test": 20}
    assert load(replace(chosen, cut={"dev": 0.5, "test": 0.2}), cache=tmp_path).counts["dev"].read == 50
    with pytest.raises(DataError, match="test split has no usable text"):
        load(replace(chosen, cut={"dev": 0.1}), cache=tmp_path)
