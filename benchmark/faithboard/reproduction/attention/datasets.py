"""Table 1 of Jain & Wallace (2019): the data sets, and how well the BiLSTM does on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from faithboard.published import PublishedDataset
from faithboard.reproduction.attention.comparing import published_task, relative_verdict, verdict
from faithboard.reproduction.attention.lines import DatasetLine
from faithboard.reproduction.attention.measured import Measured
from faithboard.stats import resampling

MODEL = "bilstm-additive"
_MEASURES = {"accuracy": "accuracy", "micro-f1": "accuracy"}
"""Measure as the paper names it -> as the engine does. Of single labels micro-F1 is the accuracy."""


def dataset_lines(
    measured: Sequence[Measured], labels: Mapping[str, Sequence[str]], published: Mapping[str, PublishedDataset]
) -> list[DatasetLine]:
    """The rows of table 1 for every task that the paper has, from the records of its BiLSTM."""
    return [
        line
        for one in measured
        if one.model == MODEL and published_task(one.task) in published
        for line in _lines(one, labels[one.task], published[published_task(one.task)])
    ]


def _lines(one: Measured, labels: Sequence[str], theirs: PublishedDataset) -> Iterator[DatasetLine]:
    data = one.records[0].data
    splits: Mapping[str, Any] = data["splits"]
    yield _size(one.task, "vocabulary", data["vocabulary"], theirs.vocabulary)
    yield _size(one.task, "average length", splits["train"]["average_length"], theirs.average_length)
    for split, counts in (("train", theirs.train_per_class), ("test", theirs.test_per_class)):
        if len(counts) == 1:
            yield _size(one.task, split, splits[split]["used"], counts[0])
            continue
        for label, count in zip(labels, counts, strict=True):
            yield _size(one.task, f"{split}: {label}", splits[split]["per_class"][label], count)
    # The paper says F1 without a kind; its authors' result files show it to be the weighted one.
    measure = _MEASURES.get(theirs.measure, "f1-weighted")
    reached = [record.performance[measure] for record in one.records if measure in record.performance]
    if reached:
        mean = float(np.mean(reached))
        yield DatasetLine(
            task=one.task,
            quantity=f"BiLSTM, {measure}",
            here=resampling.rounded(mean),
            published=theirs.performance,
            difference=resampling.rounded(mean - theirs.performance),
            verdict=verdict(mean, theirs.performance, []),
        )


def _size(task: str, quantity: str, here: float, published: float) -> DatasetLine:
    return DatasetLine(
        task=task,
        quantity=quantity,
        here=resampling.rounded(here),
        published=published,
        difference=resampling.rounded((here - published) / published),
        verdict=relative_verdict(here, published),
    )
