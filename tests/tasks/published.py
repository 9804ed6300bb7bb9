"""Copies of published data sets in the forms a task can be given: parquet files of the hub, a tar archive."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd


def write_hub(folder: Path, splits: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """The hub's parquet files, one folder a split."""
    for split, rows in splits.items():
        (folder / split).mkdir(parents=True)
        pd.DataFrame(rows).to_parquet(folder / split / "0000.parquet")


def write_texts(folder: Path, texts: Mapping[str, str], encoding: str = "utf-8") -> None:
    """Files below a folder: relative name -> text."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode(encoding))


def pack(archive: Path, folder: Path) -> None:
    """A gzipped tar of what lies in a folder, the last file first."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w:gz") as tar:
        for path in sorted(folder.rglob("*"), reverse=True):
            tar.add(path, path.relative_to(folder).as_posix(), recursive=False)
