"""The three splits of a task, from those its publisher made.

Where the data has no dev or test split, one is cut off the training texts by their content: the same texts give the
same splits, in whatever order and from whatever place they come.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby

from faithboard.task import SPLITS, Record, Task

SEED = 0
"""Recorded seed of the cut."""

Records = Iterable[Record | None]
"""None is a row the task drops by rule."""


def lacking(task: Task, read: Callable[[str], Records]) -> tuple[str, ...]:
    """The splits that the data has no row of, among those the task lets be cut off."""
    return tuple(split for split in task.cut if not any(True for _ in read(split)))


def records_by_split(
    task: Task, read: Callable[[str], Records], cut_off: Iterable[str]
) -> Iterator[tuple[str, Records]]:
    """Each split in turn with its records, those of `cut_off` being taken from the training records."""
    shares = {split: task.cut[split] for split in cut_off}
    made = cut(_distinct(read("train")) if task.distinct else read("train"), shares) if shares else {}
    for split in SPLITS:
        if split in made:
            yield split, _named(split, made[split])
        else:
            yield split, _named(split, _distinct(read(split)) if task.distinct else read(split))


def cut(records: Records, shares: Mapping[str, float]) -> dict[str, list[Record | None]]:
    """Training records divided over the splits of `shares` and `train`, each in the order of content hashes.

    Per class, the records of smallest hash go to the first split until it has its share (rounded), then to the next.
    Equal texts stay together: a text of several classes lies where the first of them in the alphabet has it, and
    counts towards the share of each. Rows dropped by rule stay in `train`.
    """
    parts: dict[str, list[Record]] = {split: [] for split in (*shares, "train")}
    classes: dict[str, list[Record]] = defaultdict(list)
    dropped: list[None] = []
    for record in records:
        if record is None:
            dropped.append(None)
        else:
            classes[record.label].append(record)
    side: dict[str, str] = {}
    for _, of_class in sorted(classes.items()):
        wanted = {split: round(share * len(of_class)) for split, share in shares.items()}
        free: list[Record] = []
        for record in of_class:
            split = side.get(_text(record))
            if split is None:
                free.append(record)
                continue
            parts[split].append(record)
            if split in wanted:
                wanted[split] -= 1
        for _, same in groupby(sorted(free, key=_content), key=_content):
            together = list(same)
            split = next((split for split, number in wanted.items() if number > 0), "train")
            side[_text(together[0])] = split
            parts[split] += together
            if split in wanted:
                wanted[split] -= len(together)
    ordered: dict[str, list[Record | None]] = {split: [*sorted(part, key=_content)] for split, part in parts.items()}
    ordered["train"] += dropped
    return ordered


def _content(record: Record) -> str:
    """Hash of text, query and label, whatever the blanks between the words."""
    return hashlib.sha256("\x1f".join([str(SEED), record.label, _text(record)]).encode()).hexdigest()


def _text(record: Record) -> str:
    """Text and query with one blank between words."""
    words = (text.split() if isinstance(text, str) else text for text in (record.text, record.query))
    return "\x1f".join(map(" ".join, words))


def _distinct(records: Records) -> Iterator[Record | None]:
    """The records, with None in place of one that repeats the text and label of an earlier one."""
    seen: set[str] = set()
    for record in records:
        if record is not None:
            content = _content(record)
            record = None if content in seen else record
            seen.add(content)
        yield record


def _named(split: str, records: Records) -> Iterator[Record | None]:
    """The records, those without an id named by their content; repeats are numbered."""
    seen: Counter[str] = Counter()
    for record in records:
        if record is not None and not record.id:
            name = f"{split}-{_content(record)[:16]}"
            seen[name] += 1
            record = replace(record, id=name if seen[name] == 1 else f"{name}-{seen[name]}")
        yield record
