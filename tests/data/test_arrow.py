from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from faithboard.data import arrow
from faithboard.errors import StoreError
from faithboard.task import Example

SPLITS = {
    "train": [
        Example("t-0", ("a", "b", "a"), ("q", "a"), 1, rationale=(True, False, True), candidates=(0, 2)),
        Example("t-1", (), (), 0),
        Example("t-2", ("caf\u00e9",), (), 2, rationale=(), candidates=(), truncated=7),
        Example("t-3", ("b",), ("q",), 0, rationale=(False,), query_rationale=(True,)),
    ],
    "dev": [Example("d-0", ("only",), (), 0)],
    "test": [Example("x-0", ("a", "b"), (), 1)],
}


@pytest.fixture
def entry(tmp_path: Path) -> Path:
    arrow.write(tmp_path / "cache" / "toy-1", SPLITS, {"words": ["a"], "n": 1})
    return tmp_path / "cache" / "toy-1"


def test_examples_read_back_equal_by_iteration_index_and_slice(entry: Path) -> None:
    stored = arrow.read(entry)
    assert stored is not None
    splits, meta = stored
    assert meta == {"words": ["a"], "n": 1}
    assert {name: list(split) for name, split in splits.items()} == SPLITS
    train = splits["train"]
    assert len(train) == 4
    assert train[-1] == SPLITS["train"][3]
    assert train[1:3] == SPLITS["train"][1:3]
    assert type(train[0].rationale[0]) is bool  # type: ignore[index]
    with pytest.raises(IndexError):
        train[4]


def test_nothing_unfinished_is_left_behind(entry: Path) -> None:
    assert [path.name for path in entry.parent.iterdir()] == ["toy-1"]


def test_an_entry_that_is_not_there_is_none_without_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert arrow.read(tmp_path / "nothing") is None
    assert not caplog.records


@pytest.mark.parametrize("damage", ["flip", "truncate", "remove", "meta", "checksums", "no checksums"])
def test_damage_is_said_and_the_entry_is_not_used(entry: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    (data,) = (entry / "train").glob("*.arrow")
    content = data.read_bytes()
    if damage == "flip":
        at = content.index("caf\u00e9".encode())
        data.write_bytes(content[:at] + b"C" + content[at + 1 :])
    elif damage == "truncate":
        data.write_bytes(content[:-100])
    elif damage == "remove":
        data.unlink()
    elif damage == "no checksums":
        (entry / "checksums.json").write_text("{}")
    else:
        (entry / f"{damage}.json").write_text("{}" if damage == "meta" else "[1")
    with caplog.at_level(logging.WARNING):
        assert arrow.read(entry) is None
    assert "is damaged" in caplog.text
    arrow.write(entry, SPLITS, {})
    assert arrow.read(entry) is not None


def test_a_failed_write_leaves_nothing(entry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(arrow, "sha256", full)
    with pytest.raises(StoreError, match="No space left"):
        arrow.write(entry.with_name("toy-2"), SPLITS, {})
    assert [path.name for path in entry.parent.iterdir()] == ["toy-1"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_cache_is_one_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError, match="cannot write the data cache"):
        arrow.write(tmp_path / "data" / "toy-1", SPLITS, {})


def test_a_file_in_the_way_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    with pytest.raises(StoreError, match="cannot write the data cache"):
        arrow.write(tmp_path / "data" / "toy-1", SPLITS, {})


def test_progress_bars_stay_out_of_files_and_come_back(entry: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import datasets

    assert not datasets.are_progress_bars_disabled()
    arrow.write(entry.with_name("toy-3"), SPLITS, {})
    assert capfd.readouterr().err == ""
    assert not datasets.are_progress_bars_disabled()
