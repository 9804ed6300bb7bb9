"""A person's own data: one comma-separated file as a task.

Columns are `text` and `label`, and, where there are any, `query` (a question, hypothesis or claim that the text is read
with), `rationale` (the characters that a person marked, as `4:8 15:20`, ends exclusive) and `split` (`train`, `dev` or
`test`). Without `split`, dev and test are cut off by content, so the order of the rows plays no part.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from faithboard.errors import DataError, near
from faithboard.readers.tables import read_rows
from faithboard.task import SPLITS, Record, Source, Task, TextRules

REQUIRED = ("text", "label")
OPTIONAL = ("query", "rationale", "split")
CUT = {"dev": 0.16, "test": 0.2}
"""Shares that are cut off where the file has no such split, those of the 2019 code for data of one piece."""
_SPAN = re.compile(r"(\d+):(\d+)")


def task_of(path: Path) -> Task:
    """The task that a file is, called by its name. Reads all of it.

    Raises DataError with file, line and column for a missing or repeated column, an empty text, label or query, an
    unknown split, a rationale that is no list of spans or lies outside its text, and for a file of one class.
    """
    path = path.expanduser().resolve()
    if not path.is_file():
        raise DataError(f"there is no file {path}; a task of your own is a .csv with the columns text and label")
    per_split: Counter[str] = Counter()
    labels: set[str] = set()
    for split, record in _rows(path):
        per_split[split] += 1
        labels.add(record.label)
    if len(labels) < 2:
        found = f"every row has {labels.pop()!r}" if labels else "there is no row"
        raise DataError(f"{path}, column label: {found}; a task needs texts of at least two classes")
    if not per_split["train"]:
        raise DataError(f"{path}, column split: no row is in train; leave the column out to have the splits cut")
    columns = _columns(path)
    pair = "query" in columns
    unread = sorted(set(columns) - {*REQUIRED, *OPTIONAL})
    return Task(
        name=_name(path),
        version=1,
        source=Source(f"own data ({path.name})", "none", "that of its owner", "none: it is here"),
        labels=tuple(sorted(labels)),
        folder=path.stem,
        own_file=path,
        read=_read,
        # Words of one text alone are `<unk>`, so that the model learns what an unknown word is.
        text=TextRules(min_document_frequency=2),
        cut={split: share for split, share in CUT.items() if not per_split[split]},
        layout="pair" if pair else "single",
        rationale="human" if "rationale" in columns else None,
        performance="f1-weighted",
        profile={"select": "roc-auc" if len(labels) == 2 else "accuracy", "loss_reduction": "mean" if pair else "sum"},
        description=f"Columns that are not read: {', '.join(unread)}." if unread else "",
        differences=(f"columns that are not read: {', '.join(unread)}",) if unread else (),
    )


def _name(path: Path) -> str:
    name = re.sub(r"[^a-z0-9_.-]+", "-", path.stem.lower()).strip("-._")
    if not name:
        raise DataError(f"{path}: a task is called by its file, and nothing of this name is in [a-z0-9_.-]; rename it")
    return name


def _columns(path: Path) -> list[str]:
    """The columns of a file that has rows."""
    return next(list(row) for _, row in read_rows(path, required=REQUIRED))


def _read(path: Path, split: str) -> Iterator[Record]:
    """The records of one split."""
    return (record for own, record in _rows(path) if own == split)


def _rows(path: Path) -> Iterator[tuple[str, Record]]:
    """Each row as (split, record)."""
    for number, row in read_rows(path, required=REQUIRED):
        where = f"{path}, line {number}, column "
        for column in ("text", "label", "query"):
            if not row.get(column, "-").strip():
                raise DataError(f"{where}{column}: it is empty")
        split = row.get("split", "train").strip()
        if split not in SPLITS:
            raise DataError(f"{where}split: unknown split {split!r}; {near(split, SPLITS)}")
        yield split, _record(row, where)


def _record(row: Mapping[str, str], where: str) -> Record:
    marked = row.get("rationale")
    return Record(
        id="",
        text=row["text"],
        label=row["label"].strip(),
        query=row.get("query", ()),
        rationale=None if marked is None else _spans(marked, len(row["text"]), f"{where}rationale"),
    )


def _spans(cell: str, length: int, where: str) -> tuple[tuple[int, int], ...]:
    """`4:8 15:20` as spans over `length` characters; nothing for an empty cell."""
    spans = []
    for part in cell.split():
        match = _SPAN.fullmatch(part)
        if match is None:
            raise DataError(
                f"{where}: {part!r} is no span of characters; write start:end, ends exclusive, as 4:8 15:20"
            )
        start, end = int(match[1]), int(match[2])
        if not start < end <= length:
            raise DataError(f"{where}: {part} lies outside its text of {length} characters, or is empty")
        spans.append((start, end))
    return tuple(spans)
