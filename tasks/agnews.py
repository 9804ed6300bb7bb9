"""AG News (Zhang et al. 2015), two of its four classes: World or Business?

There is no published dev set: a tenth of the training texts, cut off by content.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from faithboard.errors import DataError
from faithboard.readers.files import required
from faithboard.readers.hub import class_name
from faithboard.readers.tables import read_rows
from faithboard.task import HubSource, Record, Source, Task, TextRules

FILES = {
    split: (f"{split}.csv", f"ag_news_csv/{split}.csv", f"ag_news_csv.tar.gz/ag_news_csv/{split}.csv")
    for split in ("train", "test")
}
CLASSES = ("World", "Sports", "Business", "Sci/Tech")
"""The hub counts them from 0, the files from 1."""
LABELS = ("World", "Business")


def _record(text: str, label: str) -> Record | None:
    if label not in LABELS:
        return None
    # A backslash stands for a line break.
    return Record("", text.replace("\\", " "), label)


def read(folder: Path, split: str) -> Iterator[Record | None]:
    """Records of one published split, None for the two other classes."""
    if split not in FILES:
        return
    path = required(folder, FILES[split])
    for line, row in read_rows(path, columns=("class", "title", "description")):
        if row["class"] not in ("1", "2", "3", "4"):
            raise DataError(
                f"{path}, line {line}: class {row['class'][:20]!r}; the file has no header, and a row is "
                '"1","Title","Description" with a class from 1 to 4'
            )
        yield _record(f"{row['title']} {row['description']}", CLASSES[int(row["class"]) - 1])


def convert(split: str, number: int, row: Mapping[str, Any]) -> Record | None:
    """The record of a row on the hub, where title and description are joined by a blank."""
    return _record(row["text"], class_name(CLASSES, row["label"], f"split {split}, row {number}"))


AGNEWS = Task(
    name="agnews",
    version=1,
    source=Source(
        title="AG's News Topic Classification Dataset",
        citation="Zhang et al. 2015, Character-level Convolutional Networks for Text Classification",
        licence="research purposes and any other non-commercial activity (readme.txt)",
        url="the `ag_news_csv.tar.gz` of Zhang et al. 2015, linked from "
        "http://groups.di.unipi.it/~gulli/AG_corpus_of_news_articles.html",
    ),
    labels=LABELS,
    folder="agnews",
    files=FILES,
    read=read,
    hub=HubSource(
        id="fancyzhx/ag_news",
        revision="eb185aade064a813bc0b7f42de02595523103ca4",
        columns=("text", "label"),
        convert=convert,
        splits={"train": "train", "test": "test"},
    ),
    text=TextRules(min_document_frequency=5),
    cut={"dev": 0.1},
    performance="f1-weighted",
    profile={"vectors": "glove-6b-50d", "epochs": 8, "batch_size": 32, "loss_reduction": "sum", "weight_decay": 1e-5},
    fingerprints={"shared-subset": "b247efa8885fc53387d91ad554c01925c72f7ed4f2f6a836d3e4a4d1207639c4"},
    # Of the two classes, 30,000 training texts each, less the dev tenth.
    published_rows={"train": 54_000, "dev": 6_000, "test": 3_800},
    description="Is the news item World or Business? Sports and Sci/Tech are dropped.",
)
