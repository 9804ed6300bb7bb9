"""Tokenised splits on disk, as Arrow through `datasets`: written whole or not at all, checked when read.

An entry is a folder with one saved data set per split, `meta.json`, and `checksums.json` over all other files.
"""

from __future__ import annotations

import json
import logging
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from faithboard.errors import StoreError
from faithboard.readers.files import sha256
from faithboard.task import Example

if TYPE_CHECKING:
    import pyarrow as pa

log = logging.getLogger(__name__)

META = "meta.json"
CHECKSUMS = "checksums.json"


class Split(Sequence[Example]):
    """Examples of one split over its Arrow table. Words are kept as indices; each example is built when asked for."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __len__(self) -> int:
        return self._table.num_rows

    @overload
    def __getitem__(self, at: int) -> Example: ...
    @overload
    def __getitem__(self, at: slice) -> list[Example]: ...
    def __getitem__(self, at: int | slice) -> Example | list[Example]:
        if isinstance(at, slice):
            return [self._columns.example(row) for row in range(len(self))[at]]
        return self._columns.example(range(len(self))[at])

    def __iter__(self) -> Iterator[Example]:
        return map(self._columns.example, range(len(self)))

    @cached_property
    def _columns(self) -> _Columns:
        return _Columns(self._table)


class _Columns:
    """The columns in the form that is fastest to build examples from."""

    def __init__(self, table: pa.Table) -> None:
        self._ids = table["id"].to_pylist()
        self._labels = table["label"].to_pylist()
        self._truncated = table["truncated"].to_pylist()
        self._tokens = _Lists.of_words(table["tokens"])
        self._query = _Lists.of_words(table["query"])
        self._rationale = _Lists.of_values(table["rationale"])
        self._query_rationale = _Lists.of_values(table["query_rationale"])
        self._candidates = _Lists.of_values(table["candidates"])

    def example(self, row: int) -> Example:
        return Example(
            id=self._ids[row],
            tokens=self._tokens[row] or (),
            query=self._query[row] or (),
            label=self._labels[row],
            rationale=self._rationale[row],
            query_rationale=self._query_rationale[row],
            candidates=self._candidates[row],
            truncated=self._truncated[row],
        )


@dataclass(frozen=True)
class _Lists:
    """A column of lists as one flat array with offsets."""

    flat: np.ndarray[Any, Any]
    offsets: np.ndarray[Any, Any]
    null: np.ndarray[Any, Any]
    names: np.ndarray[Any, Any] | None = None
    """What the flat numbers stand for; None when they stand for themselves."""

    @classmethod
    def of_words(cls, column: pa.ChunkedArray) -> _Lists:
        lists = column.combine_chunks()
        words = lists.values.dictionary_encode()
        names = np.array([*words.dictionary.to_pylist(), ""], dtype=object)[:-1]
        return cls(words.indices.to_numpy(), lists.offsets.to_numpy(), _nulls(lists), names)

    @classmethod
    def of_values(cls, column: pa.ChunkedArray) -> _Lists:
        lists = column.combine_chunks()
        return cls(lists.values.to_numpy(zero_copy_only=False), lists.offsets.to_numpy(), _nulls(lists))

    def __getitem__(self, row: int) -> tuple[Any, ...] | None:
        if self.null[row]:
            return None
        values = self.flat[self.offsets[row] : self.offsets[row + 1]]
        return tuple((values if self.names is None else self.names[values]).tolist())


def _nulls(lists: Any) -> np.ndarray[Any, Any]:
    return lists.is_null().to_numpy(zero_copy_only=False)


def write(entry: Path, splits: Mapping[str, Sequence[Example]], meta: Mapping[str, Any]) -> None:
    """Store an entry; whoever looks sees all of it or nothing.

    Raises StoreError when the folder cannot be written.
    """
    import datasets

    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        # In the same folder, so that the rename at the end stays within one file system.
        unfinished = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=entry.parent))
    except OSError as error:
        raise StoreError(f"cannot write the data cache {entry.parent}: {error.strerror}; choose another one") from error
    try:
        with quiet_unless_terminal():
            for split, examples in splits.items():
                datasets.Dataset(_table(examples)).save_to_disk(str(unfinished / split))
        (unfinished / META).write_text(json.dumps(meta, indent=1, sort_keys=True), encoding="utf-8")
        checksums = {
            path.relative_to(unfinished).as_posix(): sha256(path)
            for path in sorted(unfinished.rglob("*"))
            if path.is_file()
        }
        (unfinished / CHECKSUMS).write_text(json.dumps(checksums, indent=1), encoding="utf-8")
        if entry.exists():
            shutil.rmtree(entry)
        unfinished.rename(entry)
    except OSError as error:
        raise StoreError(f"cannot write the data cache {entry}: {error.strerror}; choose another one") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _table(examples: Sequence[Example]) -> Any:
    import pyarrow as pa
    from datasets.table import InMemoryTable

    columns = {
        "id": pa.array([example.id for example in examples], pa.string()),
        "tokens": pa.array([example.tokens for example in examples], pa.list_(pa.string())),
        "query": pa.array([example.query for example in examples], pa.list_(pa.string())),
        "label": pa.array([example.label for example in examples], pa.int64()),
        "rationale": pa.array([example.rationale for example in examples], pa.list_(pa.bool_())),
        "query_rationale": pa.array([example.query_rationale for example in examples], pa.list_(pa.bool_())),
        "candidates": pa.array([example.candidates for example in examples], pa.list_(pa.int64())),
        "truncated": pa.array([example.truncated for example in examples], pa.int64()),
    }
    return InMemoryTable(pa.table(columns))


def read(entry: Path) -> tuple[dict[str, Split], dict[str, Any]] | None:
    """The splits and the meta data of an entry; None when there is none, or (with a warning) when it is damaged."""
    if not entry.exists():
        return None
    damage = _damage(entry)
    if damage:
        log.warning("cached data %s is damaged (%s); it is built again", entry, damage)
        return None
    import datasets

    meta = json.loads((entry / META).read_text(encoding="utf-8"))
    with quiet_unless_terminal():
        splits = {
            folder.name: Split(datasets.load_from_disk(str(folder)).data.table)
            for folder in sorted(entry.iterdir())
            if folder.is_dir()
        }
    return splits, meta


def _damage(entry: Path) -> str:
    try:
        checksums = json.loads((entry / CHECKSUMS).read_text(encoding="utf-8"))
        changed = [name for name, expected in checksums.items() if sha256(entry / name) != expected]
        if META not in checksums:
            return f"no checksum of {META}"
    except (OSError, ValueError, AttributeError) as error:
        return str(error)
    return f"changed: {', '.join(changed)}" if changed else ""


@contextmanager
def quiet_unless_terminal() -> Iterator[None]:
    """No progress bars of `datasets` in a log file: they write carriage returns."""
    import datasets

    if sys.stderr.isatty() or datasets.are_progress_bars_disabled():
        yield
        return
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        datasets.enable_progress_bars()
