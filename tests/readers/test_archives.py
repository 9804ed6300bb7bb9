from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from faithboard.errors import DataError
from faithboard.readers import files

CONTENT = {"set/train.txt": "one\ntwo\n", "set/more/b.txt": "caf\u00e9", "set/more/a.txt": "x", "other/c.txt": "no"}


def tar(content: Mapping[str, str], prefix: str = "") -> bytes:
    """A tar archive with a folder entry before the files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        folder = tarfile.TarInfo(f"{prefix}set")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, text in content.items():
            info = tarfile.TarInfo(prefix + name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


@pytest.fixture(params=["data.tar", "data.tar.gz", "data.tgz", "data.zip", "dotted.tar.gz", "data"])
def published(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The same files in every kind of archive, and in a folder."""
    path = tmp_path / request.param
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.mkdir("set")
            for name, text in CONTENT.items():
                archive.writestr(name, text)
    elif path.suffix == ".tar":
        path.write_bytes(tar(CONTENT))
    elif path.suffix:
        path.write_bytes(gzip.compress(tar(CONTENT, "./" if path.stem.startswith("dotted") else "")))
    else:
        for name, text in CONTENT.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_text(text, encoding="utf-8")
    return path


def test_a_member_is_read_like_a_file(published: Path) -> None:
    folder, name = published.parent, f"{published.name}/set/train.txt"
    path = files.required(folder, ["train.txt", name])
    assert path == folder / name
    assert list(files.read_lines(path)) == [(1, "one"), (2, "two")]


def test_texts_of_a_folder_are_read_from_any_place(published: Path) -> None:
    texts = list(files.read_texts(published / "set"))
    expected = {"train.txt": "one\ntwo\n", "more/b.txt": "caf\u00e9", "more/a.txt": "x"}
    assert dict(texts) == expected
    in_order = [name for name, _ in texts]
    assert in_order == (list(expected) if published.suffix else sorted(expected))


def test_a_place_without_files_is_an_error(published: Path) -> None:
    with pytest.raises(DataError, match=r"nothing holds no files"):
        list(files.read_texts(published / "nothing"))


def test_a_missing_member_names_archive_and_member(tmp_path: Path) -> None:
    (tmp_path / "data.tar").write_bytes(tar(CONTENT))
    with pytest.raises(DataError, match=r"data\.tar has no member set/dev\.txt"):
        list(files.read_lines(tmp_path / "data.tar" / "set" / "dev.txt"))


def test_the_hash_of_a_member_is_that_of_the_archive(tmp_path: Path) -> None:
    path = tmp_path / "data.tar"
    path.write_bytes(tar(CONTENT))
    before = files.sha256(path / "set" / "train.txt")
    assert before == files.sha256(path / "set") == files.sha256(path)
    path.write_bytes(tar({**CONTENT, "other/c.txt": "yes"}))
    assert files.sha256(path / "set" / "train.txt") != before


@pytest.mark.parametrize("name", ["data.tar", "data.tar.gz"])
def test_an_archive_that_is_cut_off_anywhere_is_one_error(tmp_path: Path, name: str) -> None:
    whole = tar({f"set/{number}.txt": f"text {number}\n" * 40 for number in range(40)})
    whole = gzip.compress(whole) if name.endswith(".gz") else whole
    path = tmp_path / name
    # Blocks of 512 bytes: the tar is cut between members and inside them, up to the zeros that end it.
    cuts = range(0, len(whole.rstrip(b"\0")), 512) if name == "data.tar" else range(1, len(whole), len(whole) // 50)
    for cut in cuts:
        path.write_bytes(whole[:cut])
        with pytest.raises(DataError, match=r"damaged archive .*download it again"):
            list(files.read_texts(path / "set"))
    path.write_bytes(whole)
    assert len(list(files.read_texts(path / "set"))) == 40


@pytest.mark.parametrize("name", ["data.tar", "data.tgz", "data.zip"])
def test_something_else_under_the_name_of_an_archive_is_one_error(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"<html>moved permanently</html>" * 100)
    with pytest.raises(DataError, match="damaged archive at"):
        list(files.read_texts(path / "set"))
    with pytest.raises(DataError, match=r"train\.txt: damaged \("):
        list(files.read_lines(path / "set" / "train.txt"))


def test_a_flipped_bit_in_a_zip_names_the_last_good_file(tmp_path: Path) -> None:
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("set/a.txt", "fine")
        archive.writestr("set/b.txt", "broken")
    path.write_bytes(path.read_bytes().replace(b"broken", b"brOken"))
    with pytest.raises(DataError, match=r"damaged archive after .*set/a\.txt"):
        list(files.read_texts(path / "set"))


@pytest.mark.parametrize(("at", "value", "reason"), [(8, 1, "encrypted"), (10, 99, "compression")])
def test_a_zip_that_cannot_be_unpacked_is_one_error(tmp_path: Path, at: int, value: int, reason: str) -> None:
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("set/a.txt", "fine")
    content = bytearray(path.read_bytes())
    # Flags and compression of the entry in the directory at the end.
    content[content.index(b"PK\x01\x02") + at] = value
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"damaged archive at .*{reason}"):
        list(files.read_texts(path / "set"))
    with pytest.raises(DataError, match=f"a.txt: damaged .*{reason}"):
        list(files.read_lines(path / "set" / "a.txt"))


def test_a_text_in_another_encoding_names_its_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("fine")
    (tmp_path / "b.txt").write_bytes(b"caf\xe9")
    with pytest.raises(DataError, match=r"b\.txt: not utf-8"):
        list(files.read_texts(tmp_path))
    assert dict(files.read_texts(tmp_path, "latin-1"))["b.txt"] == "caf\u00e9"
