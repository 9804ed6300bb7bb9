"""Does a text report an adverse drug reaction? Tweets (`adr`), and sentences of case reports (`ade`).

The tweets may not be passed on: `ade` is the open task of the same question. They are two tasks with two names; a
number of one says nothing about the other. Neither has published splits that all copies share: what is missing is cut
off by content.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from faithboard.errors import DataError
from faithboard.readers.files import read_lines, required
from faithboard.readers.tables import read_rows
from faithboard.task import SPLITS, HubSource, Record, Source, Task, TextRules

LABELS = ("none", "adverse reaction")
TWEETS = ("adr.csv",)
RELATIONS = ("DRUG-AE.rel", "ADE-Corpus-V2/DRUG-AE.rel", "ADE-Corpus-V2.zip/ADE-Corpus-V2/DRUG-AE.rel")
NEGATIVE = ("ADE-NEG.txt", "ADE-Corpus-V2/ADE-NEG.txt", "ADE-Corpus-V2.zip/ADE-Corpus-V2/ADE-NEG.txt")
PROFILE = {"vectors": "glove-6b-50d", "epochs": 8, "batch_size": 32, "loss_reduction": "sum", "weight_decay": 1e-5}
CUT = {"dev": 0.1, "test": 0.2}


def read_tweets(folder: Path, split: str) -> Iterator[Record]:
    """Records of one split of the csv; all are in `train` where it has no column `split`.

    Raises DataError where it has the column and no row of the split: a split is cut off only where none were made.
    """
    path = required(folder, TWEETS)
    own_splits = found = False
    for line, row in read_rows(path, required=("text", "label")):
        where = f"{path}, line {line}"
        # Errors say the rule and the place, never the value: a shifted row would put a tweet in the message.
        if row["label"] not in ("0", "1"):
            raise DataError(f"{where}: the label is neither 0 nor 1 (adverse reaction)")
        if row.get("split", "train") not in SPLITS:
            raise DataError(f"{where}: the split is none of {', '.join(SPLITS)}")
        own_splits = "split" in row
        if row.get("split", "train") == split:
            found = True
            yield Record("", row["text"], LABELS[int(row["label"])])
    if own_splits and not found:
        raise DataError(
            f"{path}: the {split} split is empty: no row has {split} in the column `split`. Add its rows, or leave the "
            "column out to have dev and test cut off by content"
        )


def read_sentences(folder: Path, split: str) -> Iterator[Record]:
    """Every sentence of the corpus with its label, a positive one once per relation in it."""
    if split != "train":
        return
    path = required(folder, RELATIONS)
    for line, row in read_lines(path):
        fields = row.split("|")
        if len(fields) != 8:
            raise DataError(
                f"{path}, line {line}: {len(fields)} fields; expected pmid|sentence|effect|begin|end|drug|begin|end"
            )
        yield Record("", fields[1], LABELS[1])
    path = required(folder, NEGATIVE)
    for line, row in read_lines(path):
        _, mark, sentence = row.partition(" NEG ")
        if not mark:
            raise DataError(f"{path}, line {line}: {row[:60]!r}; expected `pmid NEG sentence`")
        yield Record("", sentence, LABELS[0])


def convert(split: str, number: int, row: Mapping[str, Any]) -> Record:
    """The record of a row on the hub: Not-Related 0, Related 1, a sentence once per relation in it."""
    # A number that is no class stays one, which no task has as a label.
    return Record("", row["text"], dict(enumerate(LABELS)).get(row["label"], str(row["label"])))


ADR = Task(
    name="adr",
    version=1,
    source=Source(
        title="Adverse drug reactions in tweets",
        citation="Nikfarjam et al. 2015, Pharmacovigilance from social media",
        licence="not redistributable: sign the authors' agreement, then fetch the tweets by their ids",
        url="http://diego.asu.edu/Publications/ADRMine.html, as adr.csv with the columns text, label and, if you have "
        "it, split",
        access="on request",
    ),
    labels=LABELS,
    folder="adr",
    files={"tweets": TWEETS},
    read=read_tweets,
    text=TextRules(min_document_frequency=2, more_than=5, fewer_than=100),
    cut=CUT,
    performance="f1-positive",
    profile=PROFILE,
    # The 21,254 tweets of the 2019 preparation.
    published_rows={"train": 14_878, "dev": 2_125, "test": 4_251},
    differences=("the paper draws its test split at random; without a column `split` it is cut off by content here",),
    private=True,
    description="Does the tweet report an adverse reaction to a drug?",
)

ADE = Task(
    name="ade",
    version=1,
    source=Source(
        title="ADE-Corpus-V2",
        citation="Gurulingappa et al. 2012, Development of a benchmark corpus to support the automatic extraction of "
        "drug-related adverse effects from medical case reports",
        licence="none stated; its README asks for citation",
        url="https://sites.google.com/site/adecorpus/ (ADE-Corpus-V2)",
    ),
    labels=LABELS,
    folder="ade",
    files={"positive": RELATIONS, "negative": NEGATIVE},
    read=read_sentences,
    hub=HubSource(
        id="ade-benchmark-corpus/ade_corpus_v2",
        revision="4ba01c71687dd7c996597042449448ea312126cf",
        config="Ade_corpus_v2_classification",
        columns=("text", "label"),
        convert=convert,
        splits={"train": "train"},
    ),
    text=TextRules(min_document_frequency=2, more_than=5, fewer_than=100),
    distinct=True,
    cut=CUT,
    performance="f1-positive",
    profile=PROFILE,
    fingerprints={"published": "b76586f9db10108172ad2731487d9b21bf236332ea67eb6ebd43cfdda6653978"},
    # 4,271 positive and 16,625 negative sentences, each once.
    published_rows={"train": 14_628, "dev": 2_089, "test": 4_179},
    description="Does the sentence of a case report say that a drug did harm?",
)
