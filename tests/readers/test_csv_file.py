"""A person's own file becomes a task, or an error that names file, line and column."""

from __future__ import annotations

from pathlib import Path

import pytest

from faithboard.data import TaskData, load
from faithboard.errors import DataError, ResolveError
from faithboard.readers.csv_file import task_of
from faithboard.resolve import resolve, resolve_all

WORDS = ("north", "south")


def rows(count: int = 60, start: int = 0) -> list[tuple[str, str]]:
    """(text, label): one word of each text tells its class."""
    return [
        (
            f"the {'cold' if n % 2 else 'warm'} wind of day {'abcdefghij'[n % 10]} {'klmnopqrst'[n // 10 % 10]}",
            WORDS[n % 2],
        )
        for n in range(start, start + count)
    ]


def write(folder: Path, lines: list[str], header: str = "text,label", name: str = "Weather report.csv") -> Path:
    path = folder / name
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def plain(folder: Path, name: str = "Weather report.csv") -> Path:
    return write(folder, [f"{text},{label}" for text, label in rows()], name=name)


def loaded(path: Path, cache: Path) -> TaskData:
    return load(task_of(path), cache=cache, origin="generated")


def test_a_file_of_texts_and_labels_is_a_task(tmp_path: Path) -> None:
    task = task_of(plain(tmp_path))
    assert (task.name, task.labels, task.layout, task.rationale) == (
        "weather-report",
        ("north", "south"),
        "single",
        None,
    )
    assert task.cut == {"dev": 0.16, "test": 0.2}
    data = loaded(tmp_path / "Weather report.csv", tmp_path / "cache")
    assert {split: len(examples) for split, examples in data.splits.items()} == {"train": 38, "dev": 10, "test": 12}
    assert (data.origin, data.fingerprint_name, data.cut) == ("files", "own data", ("dev", "test"))
    assert data.splits["train"][0].tokens[:1] == ("the",)


def test_neither_the_order_of_rows_nor_the_name_of_the_folder_plays_a_part(tmp_path: Path) -> None:
    one = loaded(plain(tmp_path), tmp_path / "cache")
    (tmp_path / "other").mkdir()
    lines = [f"{text},{label}" for text, label in reversed(rows())]
    other = loaded(write(tmp_path / "other", lines), tmp_path / "cache")
    assert one.fingerprint == other.fingerprint
    assert {e.id for e in one.splits["test"]} == {e.id for e in other.splits["test"]}


def test_another_version_of_the_file_is_other_data(tmp_path: Path) -> None:
    before = loaded(plain(tmp_path), tmp_path / "cache")
    write(tmp_path, [f"{text},{label}" for text, label in rows(62)])
    after = loaded(tmp_path / "Weather report.csv", tmp_path / "cache")
    assert before.fingerprint != after.fingerprint
    assert len(after.splits["train"]) + len(after.splits["dev"]) + len(after.splits["test"]) == 62


def test_query_rationale_and_split_are_read(tmp_path: Path) -> None:
    lines = [
        f'{split},"Mr. {word}, don\'t shout",why {n}?,{"4:8 " if word == "cold" else ""}10:15,{word}'
        for split in ("train", "dev", "test")
        for n, word in enumerate(("cold", "warm"))
    ]
    path = write(tmp_path, lines, "split,text,query,rationale,label")
    task = task_of(path)
    assert (task.layout, task.rationale, task.cut) == ("pair", "human", {})
    example = loaded(path, tmp_path / "cache").splits["test"][0]
    assert example.tokens == ("mr.", "cold", ",", "do", "n't", "shout")
    # 10:15 is "don't": both of its tokens are marked.
    assert example.rationale == (False, True, False, True, True, False)
    assert example.query == ("why", "qqq", "?")


def test_a_span_marks_every_token_that_it_overlaps(tmp_path: Path) -> None:
    lines = [
        f"{split},good film here,{span},{label}"
        for split in ("train", "dev", "test")
        for span, label in (("3:6", "a"), ("", "b"))
    ]
    data = loaded(write(tmp_path, lines, "split,text,rationale,label"), tmp_path / "cache")
    assert [example.rationale for example in data.splits["dev"]] == [(True, True, False), (False, False, False)]


def test_a_split_that_is_missing_is_cut_off(tmp_path: Path) -> None:
    lines = [f"{text},{label},{'test' if n < 20 else 'train'}" for n, (text, label) in enumerate(rows())]
    path = write(tmp_path, lines, "text,label,split")
    assert task_of(path).cut == {"dev": 0.16}
    sizes = {split: len(examples) for split, examples in loaded(path, tmp_path / "cache").splits.items()}
    assert sizes == {"train": 34, "dev": 6, "test": 20}


@pytest.mark.parametrize(
    ("header", "lines", "message"),
    [
        ("text,lable", ["a b,x"], r"line 1: no column label; the first row must name the columns"),
        ("text,label,text", ["a b,x,c"], r"line 1: two columns are called 'text'"),
        ("text,label", ["a b,x", "c d,x"], r"column label: every row has 'x'; a task needs texts of at least two"),
        ("text,label", [], r"column label: there is no row"),
        ("text,label", ["a b,x", " ,y"], r"line 3, column text: it is empty"),
        ("text,label", ["a b,", "c d,y"], r"line 2, column label: it is empty"),
        ("text,label,query", ["a b,x,why", "c d,y,"], r"line 3, column query: it is empty"),
        ("text,label,split", ["a b,x,trian"], r"line 2, column split: unknown split 'trian'; did you mean train"),
        ("text,label,split", ["a b,x,test", "c d,y,test"], r"column split: no row is in train"),
        ("text,label,rationale", ["a b,x,0:1 2:9"], r"line 2, column rationale: 2:9 lies outside its text of 3 char"),
        ("text,label,rationale", ["a b,x,2:2"], r"line 2, column rationale: 2:2 lies outside its text .* or is empty"),
        ("text,label,rationale", ["a b,x,0-1"], r"line 2, column rationale: '0-1' is no span of characters; write"),
        ("text,label", ["a b,x,z"], r"line 2: 3 fields instead of 2"),
    ],
)
def test_what_is_wrong_is_named_with_line_and_column(
    tmp_path: Path, header: str, lines: list[str], message: str
) -> None:
    path = write(tmp_path, lines, header)
    with pytest.raises(DataError, match=message) as caught:
        task_of(path)
    assert str(path) in str(caught.value)


def test_a_class_that_a_split_lacks_is_named(tmp_path: Path) -> None:
    lines = [f"{text},{label},{('train', 'dev', 'test')[n % 3]}" for n, (text, label) in enumerate(rows())]
    lines += ["a quiet day,east,train", "one more day,east,dev"]
    with pytest.raises(DataError, match=r"no text of class 'east' can be used in the test split \(0 there"):
        loaded(write(tmp_path, lines, "text,label,split"), tmp_path / "cache")
    few = [f"{text},{label}" for text, label in rows()] + ["a quiet day,east", "one more day,east"]
    with pytest.raises(DataError, match=r"'east' can be used in the (dev|test) split .* Add some, or a column split"):
        loaded(write(tmp_path, few), tmp_path / "cache")


def test_it_comes_through_the_resolver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = plain(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert resolve("task", "Weather report.csv") == resolve("task", str(path))
    with pytest.raises(DataError, match="there is no file"):
        resolve("task", "none.csv")
    with pytest.raises(ResolveError, match=r"called 'sst' like the built-in"):
        resolve_all("task", [str(plain(tmp_path, "SST.csv"))])
    with pytest.raises(DataError, match="nothing of this name"):
        resolve("task", str(plain(tmp_path, "__.csv")))


def test_columns_that_are_not_read_are_said(tmp_path: Path) -> None:
    task = task_of(write(tmp_path, ["a b,x,1,2", "c d,y,3,4"], "text,label,score,author"))
    assert task.differences == ("columns that are not read: author, score",)
