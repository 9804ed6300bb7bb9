"""Published archives (`.tar`, `.tar.gz`, `.tgz`, `.zip`), read in their own order; nothing is unpacked to disk.

A place inside one is written as a path: `aclImdb_v1.tar.gz/aclImdb/train`.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Generator
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

SUFFIXES = (".tar", ".tar.gz", ".tgz", ".zip")
DAMAGE = (
    *(gzip.BadGzipFile, EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile),
    # A zip with a password, and one compressed in a way that `zipfile` does not know.
    *(RuntimeError, NotImplementedError),
)
"""What the standard library raises while it reads a file that is damaged, cut off, or not as it is published."""

Members = Generator[tuple[str, IO[bytes]], None, None]

_BLOCK = 512


def place_inside(path: Path) -> tuple[Path, str] | None:
    """The archive that a path leads into, and the place inside it; None for any other path."""
    for parent in path.parents:
        if parent.name.endswith(SUFFIXES) and parent.is_file():
            return parent, path.relative_to(parent).as_posix()
    return None


def members(archive: Path) -> Members:
    """Name and content of each file in the archive; a content must be read before the next member is asked for.

    Raises one of `DAMAGE`, here or where a content is read, for an archive that is damaged or cut off.
    """
    return _zipped(archive) if archive.suffix == ".zip" else _tarred(archive)


def _zipped(archive: Path) -> Members:
    with zipfile.ZipFile(archive) as file:
        for info in file.infolist():
            if not info.is_dir():
                with file.open(info) as content:
                    # A buffer of its own reads lines three times as fast as the member does.
                    yield _plain(info.filename), io.BufferedReader(cast("io.RawIOBase", content))


def _tarred(archive: Path) -> Members:
    with archive.open("rb") if archive.suffix == ".tar" else gzip.open(archive, "rb") as raw:
        stream = _Stream(cast("IO[bytes]", raw))
        with tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r|") as file:
            while (info := file.next()) is not None:
                # Else it keeps a record of every member, hundreds of megabytes for the 400,000 files of CNN.
                cast(Any, file).members.clear()
                content = file.extractfile(info) if info.isfile() else None
                if content is not None:
                    yield _plain(info.name), content
        stream.check_end()


def _plain(name: str) -> str:
    """The name without a leading `./`."""
    return PurePosixPath(name).as_posix()


class _Stream:
    """Passes bytes on and remembers the last of them.

    `tarfile` takes an archive that breaks off between two members for a whole one: half a download would be read as a
    smaller data set. A whole one ends in zeros.
    """

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._end = b""

    def read(self, size: int) -> bytes:
        data = self._raw.read(size)
        self._end = (self._end + data)[-_BLOCK:]
        return data

    def check_end(self) -> None:
        while self.read(2**20):
            pass
        if any(self._end):
            raise tarfile.ReadError("it ends in the middle of its members")
