"""The file edge: finding a task's published files, opening them plain, gzipped or inside an archive, hashing them."""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, cast

from faithboard.errors import DataError
from faithboard.readers.archives import DAMAGE, members, place_inside
from faithboard.task import Task


def locate(folder: Path, names: Iterable[str]) -> Path | None:
    """The first of `names` that exists below `folder`, as it is or with `.gz` added.

    A name may lead into an archive (`published.tar.gz/folder/train.txt`): then the archive must exist, and whether it
    has the member turns out when it is read. It may lead to the folder of another task (`../snli/train.jsonl`).
    """
    for name in names:
        for ending in ("", ".gz"):
            # By name alone, so that `..` of a linked folder is where the link lies and not where it leads.
            path = Path(os.path.normpath(folder / f"{name}{ending}"))
            if path.exists() or place_inside(path):
                return path
    return None


def required(folder: Path, names: Iterable[str]) -> Path:
    """The same, but a missing file is a DataError that says which names were looked for."""
    names = tuple(names)
    path = locate(folder, names)
    if path is None:
        raise DataError(f"{folder} has none of {', '.join(names)} (plain or .gz)")
    return path


def data_folder(root: Path, task: Task) -> Path | None:
    """`root/<task.folder>`, or `root` itself when that holds a file of every part; None when neither is so.

    Of every part, since tasks share names: `train.txt` alone may be of another.
    """
    below = root / task.folder
    if below.is_dir():
        return below
    return root if task.files and all(locate(root, names) for names in task.files.values()) else None


def find(root: Path, task: Task) -> tuple[Path, dict[str, Path]]:
    """The folder of a task below the data root, and the file of each of its parts.

    Raises one DataError that names every file looked for, and where the data comes from.
    """
    folder = data_folder(root, task) or root / task.folder
    found = {part: locate(folder, names) for part, names in task.files.items()}
    missing = [f"  {part}: {' or '.join(task.files[part])}" for part, path in found.items() if path is None]
    if missing:
        source = task.source
        raise DataError(
            f"task {task.name}: files are missing below {folder} (plain or .gz):\n"
            + "\n".join(missing)
            + f"\nThey come from {source.url} (licence: {source.licence}; access: {source.access})."
        )
    return folder, {part: path for part, path in found.items() if path is not None}


@contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a plain file, those inside a `.gz`, or those of a member of an archive."""
    inside = place_inside(path)
    if inside is None:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            yield cast("IO[bytes]", file)
        return
    archive, wanted = inside
    with closing(members(archive)) as entries:
        for name, content in entries:
            if name == wanted:
                yield content
                return
    raise DataError(f"{archive} has no member {wanted}; is it the published archive?")


def read_lines(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Line numbers from 1 and lines without their ends.

    Only line feeds end a line, whatever else Unicode calls a line end. Raises DataError for a file that cannot be read,
    a damaged `.gz` or archive (with the last good line) and a line that is not in `encoding`.
    """
    number = 0
    try:
        with open_binary(path) as file:
            for number, raw in enumerate(file, 1):
                yield number, raw.decode(encoding).rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}, line {number}: not {encoding} ({error.reason}); is the file damaged?") from error
    except DAMAGE as error:
        where = f" after line {number}" if number else ""
        raise DataError(f"{path}: damaged{where} ({error}); download it again") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error


def read_texts(folder: Path, encoding: str = "utf-8") -> Iterator[tuple[str, str]]:
    """Name (relative, with `/`) and text of every file below a folder, or below a folder inside an archive.

    Files of a folder come in order of their names, members of an archive in its own order. Raises DataError for a
    folder without files, a damaged archive and a file that is not in `encoding`.
    """
    name = ""
    try:
        for name, content in _contents(folder):
            yield name, content.decode(encoding)
    except UnicodeDecodeError as error:
        raise DataError(f"{folder / name}: not {encoding} ({error.reason}); is the file damaged?") from error
    except DAMAGE as error:
        where = f"after {folder / name}" if name else f"at {folder}"
        raise DataError(f"damaged archive {where} ({error}); download it again") from error
    except OSError as error:
        raise DataError(f"{folder / name}: cannot be read ({error.strerror or error})") from error
    if not name:
        raise DataError(f"{folder} holds no files; is it what was published?")


def _contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    inside = place_inside(folder)
    if inside is None:
        for path in sorted(child for child in folder.rglob("*") if child.is_file()):
            yield path.relative_to(folder).as_posix(), path.read_bytes()
        return
    archive, below = inside
    with closing(members(archive)) as entries:
        for name, content in entries:
            if name.startswith(f"{below}/"):
                yield name.removeprefix(f"{below}/"), content.read()


def sha256(path: Path) -> str:
    """Hash of a file's bytes as they lie there; of a folder, of the names and bytes of all files below it.

    For a place inside an archive it is the hash of the archive.
    """
    inside = place_inside(path)
    if inside is not None or path.is_file():
        with (inside[0] if inside else path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    digest = hashlib.sha256()
    for below in sorted(child for child in path.rglob("*") if child.is_file()):
        digest.update(f"{below.relative_to(path).as_posix()}\0{sha256(below)}\n".encode())
    return digest.hexdigest()
