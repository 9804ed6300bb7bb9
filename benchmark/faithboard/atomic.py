"""Files that appear at once, and are read with an error that names them.

A file is written under another name in the same folder, flushed to the disk and renamed. A process that is killed
leaves either the old file or the new one, and at most a stray temporary file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from faithboard.errors import StoreError


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Call `write` on a temporary name beside `path`, flush it to the disk, then rename. Raises StoreError."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(temporary)
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StoreError(
            f"{path} cannot be written ({error.strerror or error}); is the disk full or read-only?"
        ) from error


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write plain values, keys in order, one per line. Raises StoreError."""
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    write_atomically(path, lambda temporary: temporary.write_text(text + "\n", encoding="utf-8"))


def read_json(path: Path) -> dict[str, Any]:
    """The values of a file. Raises StoreError for one that is damaged."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read ({error}); delete it to have it computed again") from error
    return content


def write_parquet(path: Path, table: pd.DataFrame) -> None:
    """Write a table without its index. Raises StoreError."""
    write_atomically(path, lambda temporary: table.to_parquet(temporary, index=False))


def read_parquet(path: Path) -> pd.DataFrame:
    """The table of a file. Raises StoreError for one that is damaged."""
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read ({error}); delete it and its .json to compute it again") from error
