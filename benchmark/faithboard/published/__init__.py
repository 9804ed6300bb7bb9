"""Numbers of the papers that faithboard rebuilds, as data. Each file says where its numbers come from.

datasets.csv       Jain & Wallace 2019, "Attention is not Explanation", table 1
performance.csv    the test performance of every model of that paper, from the result files of its authors
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class PublishedDataset:
    """One row of table 1 of Jain & Wallace 2019."""

    task: str
    vocabulary: int
    average_length: int
    """Tokens of a text."""
    train_per_class: tuple[int, ...]
    """In the order of the task's labels; a single number where the paper gives the whole split."""
    test_per_class: tuple[int, ...]
    performance: float
    """Of the BiLSTM on the test split."""
    measure: str


@cache
def datasets() -> dict[str, PublishedDataset]:
    """task -> its row of table 1, for the tasks of that paper."""
    text = (files("faithboard") / "published" / "datasets.csv").read_text(encoding="utf-8")
    return {
        row["task"]: PublishedDataset(
            task=row["task"],
            vocabulary=int(row["vocabulary"]),
            average_length=int(row["average_length"]),
            train_per_class=_counts(row["train_per_class"]),
            test_per_class=_counts(row["test_per_class"]),
            performance=float(row["bilstm_test_performance"]),
            measure=row["performance_measure"],
        )
        for row in csv.DictReader(text.splitlines())
    }


@cache
def performance() -> dict[tuple[str, str, str], float]:
    """(task, model such as `bilstm-additive`, measure as the engine names it) -> published test performance."""
    text = (files("faithboard") / "published" / "performance.csv").read_text(encoding="utf-8")
    return {
        (row["task"], f"{row['encoder']}-{row['attention']}", row["measure"].replace("_", "-")): float(row["value"])
        for row in csv.DictReader(text.splitlines())
    }


def _counts(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("/")))
