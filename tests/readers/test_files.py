from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from faithboard.errors import DataError
from faithboard.readers import files
from faithboard.task import Source, Task

TASK = Task(
    name="toy",
    version=1,
    source=Source("Toy", "cited", "CC BY", "https://example.org/toy", access="on request"),
    labels=("a", "b"),
    folder="toy",
    files={"train": ("big/train.txt", "small/train.txt"), "test": ("test.txt",)},
)


def test_lines_are_numbered_plain_and_gzipped_alike(tmp_path: Path) -> None:
    content = "caf\u00e9\x85still\u2028one\r\n last "
    (tmp_path / "plain.txt").write_bytes(content.encode())
    (tmp_path / "zipped.txt.gz").write_bytes(gzip.compress(content.encode()))
    expected = [(1, "caf\u00e9\x85still\u2028one"), (2, " last ")]
    assert list(files.read_lines(tmp_path / "plain.txt")) == expected
    assert list(files.read_lines(files.required(tmp_path, ["none.txt", "zipped.txt"]))) == expected


def test_bytes_of_another_encoding_name_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(b"fine\ncaf\xe9\n")
    with pytest.raises(DataError, match=r"latin\.txt, line 2: not utf-8"):
        list(files.read_lines(path))
    assert list(files.read_lines(path, "latin-1")) == [(1, "fine"), (2, "caf\u00e9")]


def test_a_truncated_gzip_file_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "half.txt.gz"
    path.write_bytes(gzip.compress(b"line\n" * 50_000)[:60])
    with pytest.raises(DataError, match=r"half\.txt\.gz: damaged.* \("):
        list(files.read_lines(path))
    path.write_bytes(b"no gzip at all")
    with pytest.raises(DataError, match=r"half\.txt\.gz: damaged \("):
        list(files.read_lines(path))


def test_all_missing_files_are_listed_with_their_source(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        files.find(tmp_path, TASK)
    message = str(caught.value)
    for part in ("toy", "big/train.txt or small/train.txt", "test.txt", "example.org/toy", "CC BY", "on request"):
        assert part in message


def test_the_first_name_is_preferred_and_the_root_may_hold_the_files_itself(tmp_path: Path) -> None:
    for name in ("big/train.txt", "small/train.txt", "test.txt.gz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    folder, found = files.find(tmp_path, TASK)
    assert folder == tmp_path
    assert found == {"train": tmp_path / "big/train.txt", "test": tmp_path / "test.txt.gz"}
    (tmp_path / "toy").mkdir()
    assert files.data_folder(tmp_path, TASK) == tmp_path / "toy"


def test_the_root_itself_must_hold_a_file_of_every_part(tmp_path: Path) -> None:
    (tmp_path / "test.txt").touch()
    assert files.data_folder(tmp_path, TASK) is None
    assert files.data_folder(tmp_path, replace(TASK, files={})) is None
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "train.txt").touch()
    assert files.data_folder(tmp_path, TASK) == tmp_path


def test_a_name_may_lead_to_the_folder_beside_a_linked_one(tmp_path: Path) -> None:
    (tmp_path / "root" / "other").mkdir(parents=True)
    (tmp_path / "root" / "other" / "train.txt").touch()
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "root" / "toy").symlink_to(tmp_path / "far" / "away")
    assert files.locate(tmp_path / "root" / "toy", ["../other/train.txt"]) == tmp_path / "root" / "other" / "train.txt"


def test_the_hash_of_a_folder_sees_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").write_text("2")
    before = files.sha256(tmp_path)
    (tmp_path / "b").write_text("3")
    changed = files.sha256(tmp_path)
    (tmp_path / "b").rename(tmp_path / "c")
    assert len({before, changed, files.sha256(tmp_path)}) == 3
