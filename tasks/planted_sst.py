"""Words planted into sentences of the Stanford Sentiment Treebank, whose own labels play no part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from faithboard.generators import planting
from faithboard.generators.planting import Planting
from faithboard.readers.files import read_lines, required
from faithboard.readers.hub import CONVERTED
from faithboard.readers.trees import parse_tree, read_trees
from faithboard.task import HubSource, Record, Source, Task

FILES = {
    split: (f"{split}.txt", f"trees/{split}.txt", f"trainDevTestTrees_PTB.zip/trees/{split}.txt")
    for split in ("train", "dev", "test")
}
SIZES = {"train": 3000, "dev": 400, "test": 1000}
"""Sentences of each split that are used, the first ones: planted words are learnt from few."""
WORDS = {"north": "aurora", "south": "basalt"}


def read(name: str, plantings: tuple[Planting, ...], folder: Path, split: str) -> Iterator[Record]:
    """Records of one split, from the published treebank files."""
    path = required(folder, FILES[split])
    trees = read_trees(read_lines(path), str(path))
    for number, tree in enumerate(islice(trees, SIZES[split])):
        yield planting.planted_into(name, plantings, split, number, tree.words)


def convert(
    name: str, plantings: tuple[Planting, ...], split: str, number: int, row: Mapping[str, Any]
) -> Record | None:
    """The record of a row on the hub, which has the same tree in one column; None for one that is not used."""
    if number >= SIZES[split]:
        return None
    tree = parse_tree(row["ptb_tree"], f"{split} row {number}, column ptb_tree")
    return planting.planted_into(name, plantings, split, number, tree.words)


def _task(name: str, plantings: tuple[Planting, ...], fingerprint: str, description: str, version: int = 1) -> Task:
    converted: Callable[[str, int, Mapping[str, Any]], Record | None] = partial(convert, name, plantings)
    return Task(
        name=name,
        version=version,
        source=Source(
            title="Planted tokens in the Stanford Sentiment Treebank",
            citation="sentences of Socher et al. 2013, Recursive Deep Models for Semantic Compositionality Over a "
            "Sentiment Treebank",
            licence="not stated by the publisher",
            url="https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip",
        ),
        labels=(*WORDS, planting.NEITHER),
        folder="sst",
        files=FILES,
        read=partial(read, name, plantings),
        hub=HubSource(id="stanfordnlp/sst", config="ptb", revision=CONVERTED, columns=("ptb_tree",), convert=converted),
        rationale="planted",
        swaps=planting.swaps_of(plantings),
        performance="accuracy",
        profile={
            "vectors": "random",
            "embedding_dim": 50,
            "hidden": 64,
            "epochs": 10,
            "learning_rate": 0.003,
            "select": "accuracy",
        },
        fingerprints={"published": fingerprint},
        published_rows=SIZES,
        family="planted",
        description=f"{description} Sentences are real, their sentiment plays no part; training and dev have some of "
        "neither class, in which nothing decides.",
    )


PLANTED_SST = _task(
    "planted-sst",
    planting.singles(WORDS),
    "c8866f6083f87bed6b0b3c72a793cd8bcd100798f44a30f76ed24b120818f51f",
    "Each class has its own word, planted once at a random place.",
)
PLANTED_SST_PAIR = _task(
    "planted-sst-pair",
    planting.pairs(("north", "south"), ("ember", "osprey"), ("heron", "meadow")),
    "87aa29419ff88826e16f1b5c2bca8b62062ca520a4e44e33c5aa7daa65f056e7",
    "Two words, one of two and one of two others: neither tells the class, only both together.",
)
PLANTED_SST_ORDER = _task(
    "planted-sst-order",
    planting.orders(("north", "south"), ("juniper", "walnut")),
    "1ccb342b64a57b704fb175929fd46a3385feee3e10f843b358c52f783403dcc3",
    "The same two words: which comes first tells the class.",
)
PLANTED_SST_NEGATION = _task(
    "planted-sst-negation",
    planting.negations(WORDS, "nix"),
    "979435d837db4cbe6be0c5a04b911905ac32c278c5811b2abdacad0449696979",
    "A word tells its class, and right behind a negation the other one.",
    version=2,  # in 1 a negation could lie some words before a word that it did not turn
)
