"""Data sets on the Hugging Face hub, through `datasets`, or the hub's parquet files in a local folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from faithboard.errors import DataError
from faithboard.readers.files import sha256
from faithboard.task import HubSource, Record

CONVERTED = "refs/convert/parquet"
"""The branch in which the hub keeps parquet files of data sets that were published as scripts, one folder a config."""


def identity(source: HubSource, folder: Path | None) -> dict[str, str]:
    """What tells the content from any other: the pinned revision, or the hashes of the local parquet files.

    Raises DataError when a local folder has none.
    """
    if folder is None:
        return {"id": source.id, "config": source.config or "", "revision": source.revision}
    place = _local_place(source, folder)
    hashes = {path.relative_to(place).as_posix(): sha256(path) for path in sorted(place.rglob("*.parquet"))}
    if not hashes:
        raise DataError(
            f"{place} has no parquet files; a local copy of {source.id} (revision {source.revision}) holds the hub's "
            f"parquet files, one folder or file name for each of {', '.join(source.splits.values())}"
        )
    return hashes


def records(source: HubSource, folder: Path | None, split: str) -> Iterator[Record | None]:
    """Records of a split, None for a row the task drops by rule; none at all for a split that is not on the hub.

    `folder` takes the place of the hub. Raises DataError when the hub cannot be reached, the files cannot be read, a
    column is not there, or a row has nothing in one.
    """
    if split not in source.splits:
        return
    import datasets

    from faithboard.data.arrow import quiet_unless_terminal

    where = f"{source.id} (config {source.config or 'default'}, revision {source.revision})"
    if folder is not None:
        where = f"{_local_place(source, folder)} in place of {where}"
    try:
        with quiet_unless_terminal():
            if folder is not None:
                # Streamed, so that files which are here already are not copied into another cache.
                rows = datasets.load_dataset(
                    str(_local_place(source, folder)), split=source.splits[split], streaming=True
                )
            else:
                rows = _from_hub(source, split)
            for number, row in enumerate(rows):
                yield source.convert(split, number, _columns(source, row, f"{where}, split {split}", number))
    except (OSError, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(
            f"{where}: split {split} cannot be read: {type(error).__name__}: {reason}. "
            "Without a network, use the published files."
        ) from error


def class_name(labels: Sequence[str] | Mapping[str, str], value: object, where: str) -> str:
    """The class that a row gives by its place in a sequence of names, from 0, or by its key in a mapping.

    Raises DataError, which begins with `where`, for anything else: -1, which the hub has for an unknown class, too.
    """
    if isinstance(labels, Mapping):
        if isinstance(value, str) and value in labels:
            return labels[value]
    # By the type itself: true is an int by inheritance, but no class.
    elif type(value) is int and 0 <= value < len(labels):
        return labels[value]
    known = "one of " + ", ".join(labels) if isinstance(labels, Mapping) else f"a number from 0 to {len(labels) - 1}"
    raise DataError(f"{where}: label {value!r} is no class; expected {known}. Is this another data set?")


def _from_hub(source: HubSource, split: str) -> Any:
    import datasets

    # In the converted branch a config is a folder; elsewhere the data set's card says what it is.
    place = {"data_dir": source.config} if source.revision == CONVERTED else {"name": source.config}
    return datasets.load_dataset(source.id, split=source.splits[split], revision=source.revision, **place)


def _local_place(source: HubSource, folder: Path) -> Path:
    below = folder / (source.config or "")
    return below if below.is_dir() else folder


def _columns(source: HubSource, row: dict[str, Any], where: str, number: int) -> dict[str, Any]:
    missing = [column for column in source.columns if column not in row]
    if missing:
        raise DataError(f"{where}: no column {', '.join(missing)}; there are {', '.join(row)}")
    empty = [column for column in source.columns if row[column] is None]
    if empty:
        raise DataError(f"{where}, row {number}: nothing in column {', '.join(empty)}")
    return {column: row[column] for column in source.columns}
