"""IMDB reviews (Maas et al. 2011), two classes: the folder a review lies in.

There is no published dev set: a tenth of the training reviews, cut off by content.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from faithboard.readers.files import read_texts, required
from faithboard.readers.hub import class_name
from faithboard.task import HubSource, Record, Source, Task, TextRules

REVIEWS = ("aclImdb", "aclImdb_v1.tar.gz/aclImdb")
CLASSES = {"neg": "negative", "pos": "positive"}
LABELS = ("negative", "positive")
"""The hub counts them from 0."""


def _record(text: str, label: str) -> Record:
    # Without an id: file names are not on the hub.
    return Record("", text.replace("<br />", " "), label)


def read(folder: Path, split: str) -> Iterator[Record]:
    """Records of one published split, from the folder or the archive."""
    if split == "dev":
        return
    for name, text in read_texts(required(folder, REVIEWS) / split):
        place = name.split("/")[0]
        # `unsup/` and the bag-of-words files lie beside the two classes.
        if place in CLASSES and name.endswith(".txt"):
            yield _record(text, CLASSES[place])


def convert(split: str, number: int, row: Mapping[str, Any]) -> Record:
    """The record of a row on the hub."""
    return _record(row["text"], class_name(LABELS, row["label"], f"split {split}, row {number}"))


IMDB = Task(
    name="imdb",
    version=1,
    source=Source(
        title="Large Movie Review Dataset",
        citation="Maas et al. 2011, Learning Word Vectors for Sentiment Analysis",
        licence="none stated; its README asks for citation",
        url="https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",
    ),
    labels=LABELS,
    folder="imdb",
    files={"reviews": REVIEWS},
    read=read,
    hub=HubSource(
        id="stanfordnlp/imdb",
        revision="e6281661ce1c48d982bc483cf8a173c1bbeb5d31",
        config="plain_text",
        columns=("text", "label"),
        convert=convert,
        splits={"train": "train", "test": "test"},
    ),
    text=TextRules(min_document_frequency=10, more_than=6, fewer_than=400),
    cut={"dev": 0.1},
    performance="f1-weighted",
    profile={"vectors": "glove-6b-50d", "epochs": 8, "batch_size": 32, "loss_reduction": "sum", "weight_decay": 1e-5},
    fingerprints={"shared-subset": "ffc4cd2c121c8390bb2eb031ed6e2987746307c652db141b0c46b04f0938d84d"},
    published_rows={"train": 22_500, "dev": 2_500, "test": 25_000},
    differences=(
        "the paper tests on a fifth of the test reviews, drawn at random; here all of fewer than 400 words are used",
        "the paper takes the reviews from a copy without case and punctuation; here they are as published",
    ),
    description="Is the film review positive?",
)
