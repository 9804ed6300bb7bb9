"""Stanford Sentiment Treebank (Socher et al. 2013), two classes: the root label, neutral sentences dropped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from faithboard.readers.files import read_lines, required
from faithboard.readers.hub import CONVERTED
from faithboard.readers.trees import Tree, parse_tree, read_trees
from faithboard.task import HubSource, Record, Source, Task, TextRules

FILES = {
    split: (f"{split}.txt", f"trees/{split}.txt", f"trainDevTestTrees_PTB.zip/trees/{split}.txt")
    for split in ("train", "dev", "test")
}
CLASSES = {0: "negative", 1: "negative", 3: "positive", 4: "positive"}


def _record(split: str, number: int, tree: Tree) -> Record | None:
    label = CLASSES.get(tree.label)
    return None if label is None else Record(f"{split}-{number}", tree.words, label)


def read(folder: Path, split: str) -> Iterator[Record | None]:
    """Records of one split of the published treebank files, None for a neutral sentence."""
    path = required(folder, FILES[split])
    for number, tree in enumerate(read_trees(read_lines(path), str(path))):
        yield _record(split, number, tree)


def convert(split: str, number: int, row: Mapping[str, Any]) -> Record | None:
    """The record of a row on the hub, which has the same tree in one column."""
    return _record(split, number, parse_tree(row["ptb_tree"], f"{split} row {number}, column ptb_tree"))


SST = Task(
    name="sst",
    version=1,
    source=Source(
        title="Stanford Sentiment Treebank",
        citation="Socher et al. 2013, Recursive Deep Models for Semantic Compositionality Over a Sentiment Treebank",
        licence="not stated by the publisher",
        url="https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip",
    ),
    labels=("negative", "positive"),
    folder="sst",
    files=FILES,
    read=read,
    hub=HubSource(id="stanfordnlp/sst", config="ptb", revision=CONVERTED, columns=("ptb_tree",), convert=convert),
    # The 2019 code keeps texts of more than five words and every word of the training split.
    text=TextRules(min_document_frequency=1, more_than=5),
    performance="f1-weighted",
    profile={"vectors": "glove-6b-50d", "epochs": 8, "batch_size": 32, "loss_reduction": "sum", "weight_decay": 1e-5},
    fingerprints={"published": "0c910a8303212e65a3f524222df3be9c3388dc01ccd15394cf2bb89c8f87df64"},
    published_rows={"train": 6920, "dev": 872, "test": 1821},
    differences=(
        "the 2019 code strips every character of SST that is no letter or digit before it counts words and lengths; "
        "here punctuation is kept as published",
    ),
    description="Is the sentence about a film positive? Neutral sentences are dropped.",
)
