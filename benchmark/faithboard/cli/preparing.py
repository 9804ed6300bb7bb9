"""What `prepare` prints of a task: the numbers of its data, here and published, and why they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tabulate import tabulate

from faithboard.data import TaskData
from faithboard.data.splits import SEED
from faithboard.published import PublishedDataset, datasets

MANY_CLASSES = 6
"""With more classes than this, a split shows its total alone."""


def described(data: TaskData, seconds: float) -> str:
    """The table of one task, with a line for every difference that is known to have a reason."""
    published = datasets().get(data.task.name)
    known = data.fingerprint_name if data.fingerprint_name != "unverified" else "UNVERIFIED DATA"
    title = f"{data.task.name}: {known}, from {data.origin}, fingerprint {data.fingerprint[:16]} ({seconds:.1f} s)"
    table = tabulate(_rows(data, published), ("", "here", "published"), tablefmt="simple", disable_numparse=True)
    notes = [f"  - {note}" for note in _notes(data)]
    return "\n".join([title, table, *notes])


def _rows(data: TaskData, published: PublishedDataset | None) -> list[tuple[str, str, str]]:
    nothing = "-"
    rows = [
        (
            "vocabulary (with 5 special tokens)",
            f"{len(data.vocabulary):,}",
            f"{published.vocabulary:,}" if published else nothing,
        ),
        (
            "average length",
            f"{data.counts['train'].average_length:.0f}",
            f"{published.average_length:,}" if published else nothing,
        ),
    ]
    for split in ("train", "dev", "test"):
        theirs: Sequence[int] = ()
        if published and split != "dev":
            theirs = published.train_per_class if split == "train" else published.test_per_class
        counts = data.counts[split]
        here = _classes(data, counts.per_class)
        rows.append((f"{split}: {_labels(data)}", here, " / ".join(f"{count:,}" for count in theirs) or nothing))
        if counts.per_class != counts.per_class_before:
            rows.append(("  before the length filters", _classes(data, counts.per_class_before), ""))
    return rows


def _labels(data: TaskData) -> str:
    return " / ".join(data.task.labels) if len(data.task.labels) <= MANY_CLASSES else "all classes"


def _classes(data: TaskData, per_class: Mapping[str, int]) -> str:
    if len(data.task.labels) > MANY_CLASSES:
        return f"{sum(per_class.values()):,}"
    return " / ".join(f"{per_class.get(label, 0):,}" for label in data.task.labels)


def _notes(data: TaskData) -> Iterator[str]:
    """Every reason for a difference that follows from the data itself, then those the task knows of."""
    for split, counts in data.counts.items():
        published = data.task.published_rows.get(split)
        if published:
            cut = ", split as here" if data.cut else ""
            yield f"{split}: {counts.used:,} rows used of {counts.here:,} here; {published:,} published{cut}"
        dropped = [
            f"{number:,} {reason}"
            for number, reason in (
                (counts.excluded_rule, "dropped by the task's rule"),
                (counts.excluded_short, "too short"),
                (counts.excluded_long, "too long"),
                (counts.truncated, f"cut at {data.task.text.max_tokens} tokens"),
            )
            if number
        ]
        if dropped:
            yield f"{split}: {', '.join(dropped)}"
    published_rows = data.task.published_rows
    if any(counts.here < published_rows.get(split, 0) for split, counts in data.counts.items()):
        yield "vocabulary and average length are those of the rows here, which are fewer than published"
    if data.cut:
        yield f"{' and '.join(data.cut)}: not in the data; cut off the training texts per class by content, seed {SEED}"
    yield from data.task.differences
