"""Table 1 of Jain & Wallace (2019): the data sets, and how well the BiLSTM does on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from faithboard.published import PublishedDataset, differences
from faithboard.reproduction.attention.comparing import DIFFERS, SUBSTITUTES, published_task, relative_verdict, verdict
from faithboard.reproduction.attention.lines import DatasetLine
from faithboard.reproduction.attention.measured import Measured
from faithboard.stats import resampling

MODEL = "bilstm-additive"
UNKNOWN = "reason not known"


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
    yield _size(one, "vocabulary", "", data["vocabulary"], theirs.vocabulary)
    yield _size(one, "average length", "", splits["train"]["average_length"], theirs.average_length)
    for split, counts in (("train", theirs.train_per_class), ("test", theirs.test_per_class)):
        if len(counts) == 1:
            yield _size(one, split, "", splits[split]["used"], counts[0])
            continue
        for label, count in zip(labels, counts, strict=True):
            yield _size(one, split, label, splits[split]["per_class"][label], count)
    reached = [record.performance[theirs.measure] for record in one.records if theirs.measure in record.performance]
    if reached:
        mean = float(np.mean(reached))
        said = verdict(mean, theirs.performance, [])
        yield DatasetLine(
            task=one.task,
            quantity="performance",
            of=theirs.measure,
            here=resampling.rounded(mean),
            published=theirs.performance,
            difference=resampling.rounded(mean - theirs.performance),
            verdict=said,
            why=_why(one, "performance") if said == DIFFERS else "",
        )


def _size(one: Measured, quantity: str, of: str, here: float, published: float) -> DatasetLine:
    said = relative_verdict(here, published)
    return DatasetLine(
        task=one.task,
        quantity=quantity,
        of=of,
        here=resampling.rounded(here),
        published=published,
        difference=resampling.rounded((here - published) / published),
        verdict=said,
        why=_why(one, quantity) if said == DIFFERS else "",
    )


def _why(one: Measured, quantity: str) -> str:
    """What is known of why a number is another one than in print."""
    if one.task in SUBSTITUTES:
        return f"another data set, in place of {SUBSTITUTES[one.task].upper()}"
    data = one.records[0].data
    # What is trained on makes the vocabulary and the model.
    split = quantity if quantity in data["splits"] else "train"
    here, published = data["splits"][split]["here"], data.get("published_rows", {}).get(split, 0)
    fewer = f"{here:,} of {published:,} published rows of {split} are here"
    known = differences().get((one.task, quantity))
    reasons = [fewer] if here < published and quantity != "average length" else []
    return "; ".join([*reasons, *([known] if known else [])]) or UNKNOWN
