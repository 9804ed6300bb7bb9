"""Does a premise entail a hypothesis? SNLI (Bowman et al. 2015), and e-SNLI, its pairs with human highlights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from faithboard.readers.esnli import Spans, read_pairs
from faithboard.readers.files import required
from faithboard.readers.hub import class_name
from faithboard.readers.tables import read_json, read_rows
from faithboard.task import HubSource, Record, Source, Task, TextRules

LABELS = ("neutral", "contradiction", "entailment")
HUB_LABELS = ("entailment", "neutral", "contradiction")
COLUMNS = ("gold_label", "sentence1", "sentence2")
UNLABELLED = "-"
"""The label of a pair on which the annotators did not agree."""

SNLI_FILES = {
    split: (
        f"snli_1.0/snli_1.0_{split}.jsonl",
        f"snli_1.0/snli_1.0_{split}.txt",
        f"snli_1.0.zip/snli_1.0/snli_1.0_{split}.jsonl",
    )
    for split in ("train", "dev", "test")
}
ESNLI_FILES = {
    # The training pairs are those of SNLI, which lies beside e-SNLI. Highlights are for scoring alone.
    "train": tuple(f"../snli/{name}" for name in SNLI_FILES["train"]),
    "dev": ("esnli_dev.csv",),
    "test": ("esnli_test.csv",),
}


def read_snli(folder: Path, split: str, names: Mapping[str, tuple[str, ...]] = SNLI_FILES) -> Iterator[Record | None]:
    """Records of one split of the published files in either form, None for a pair without a label."""
    path = required(folder, names[split])
    if ".jsonl" in path.suffixes:
        rows = read_json(path, strings=COLUMNS)
    else:
        rows = read_rows(path, required=COLUMNS, delimiter="\t", quoted=False)
    for number, (_, row) in enumerate(rows):
        label, premise, hypothesis = (row[column] for column in COLUMNS)
        yield None if label == UNLABELLED else Record(f"{split}-{number}", premise, label, hypothesis)


def convert_snli(split: str, number: int, row: Mapping[str, Any]) -> Record | None:
    """The record of a row on the hub, which counts its classes otherwise; -1 is a pair without a label."""
    if row["label"] == -1:
        return None
    label = class_name(HUB_LABELS, row["label"], f"split {split}, row {number}")
    return Record(f"{split}-{number}", row["premise"], label, row["hypothesis"])


def read_esnli(folder: Path, split: str) -> Iterator[Record | None]:
    """Records of one split: SNLI's for training, else with the union of what the annotators highlighted."""
    if split == "train":
        yield from read_snli(folder, split, ESNLI_FILES)
        return
    for number, pair in enumerate(read_pairs(required(folder, ESNLI_FILES[split]))):
        premise: Spans = tuple(span for one in pair.annotators for span in one.premise)
        hypothesis: Spans = tuple(span for one in pair.annotators for span in one.hypothesis)
        yield Record(
            f"{split}-{number}",
            pair.premise,
            pair.label,
            pair.hypothesis,
            premise,
            hypothesis,
            annotators=tuple((one.premise, one.hypothesis) for one in pair.annotators),
        )


# The 2019 code keeps words of three training pairs.
TEXT = TextRules(min_document_frequency=3)
PROFILE = {
    "vectors": "glove-6b-50d",
    "batch_size": 128,
    "epochs": 25,
    "loss_reduction": "mean",
    "weight_decay": 1e-5,
    "weigh_positive": False,
    "select": "accuracy",
}
# Pairs with a label; 785, 158 and 176 more have none.
PUBLISHED_ROWS = {"train": 549_367, "dev": 9_842, "test": 9_824}

SNLI = Task(
    name="snli",
    version=1,
    source=Source(
        title="Stanford Natural Language Inference 1.0",
        citation="Bowman et al. 2015, A large annotated corpus for learning natural language inference",
        licence="CC BY-SA 4.0",
        url="https://nlp.stanford.edu/projects/snli/snli_1.0.zip",
    ),
    labels=LABELS,
    folder="snli",
    files=SNLI_FILES,
    read=read_snli,
    hub=HubSource(
        id="stanfordnlp/snli",
        config="plain_text",
        revision="cdb5c3d5eed6ead6e5a341c8e56e669bb666725b",
        columns=("premise", "hypothesis", "label"),
        convert=convert_snli,
    ),
    text=TEXT,
    layout="pair",
    performance="accuracy",
    profile=PROFILE,
    fingerprints={"shared-subset": "18986150adc3d904659767c006817990ab21dab2a343b52527f615395d7a7cf4"},
    published_rows=PUBLISHED_ROWS,
    description="How does the hypothesis relate to the premise? The premise is explained, the hypothesis kept.",
)

ESNLI = Task(
    name="e-snli",
    version=1,
    source=Source(
        title="e-SNLI",
        citation="Camburu et al. 2018, e-SNLI: Natural Language Inference with Natural Language Explanations",
        licence="MIT for the highlights, CC BY-SA 4.0 for the pairs of SNLI",
        url="https://github.com/OanaMariaCamburu/e-SNLI (dataset/), training pairs from "
        "https://nlp.stanford.edu/projects/snli/snli_1.0.zip in the folder snli beside it",
    ),
    labels=LABELS,
    folder="e-snli",
    files=ESNLI_FILES,
    read=read_esnli,
    # Copies on the hub differ in columns and are not offered before their content is checked against these files.
    text=TEXT,
    layout="sequence",
    explained=("text", "query"),
    rationale="human",
    performance="accuracy",
    profile=PROFILE,
    fingerprints={"shared-subset": "591396aa97b4109a933a66b6a960eeb97f0432b887ab4862acfb7a05e5ed0572"},
    published_rows=PUBLISHED_ROWS,
    description="The pairs of SNLI, both sentences explained. Three people highlighted the words that decide.",
)
