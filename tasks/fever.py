"""FEVER (Thorne et al. 2018) in the ERASER form: does a passage of Wikipedia support a claim or refute it?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from faithboard.readers.eraser import published_files, read_annotations
from faithboard.task import Record, Source, Task, TextRules

FILES = published_files("fever")
BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
"""Brackets as the treebank writes them in the passages; claims and vectors files have the plain ones."""


def read(folder: Path, split: str) -> Iterator[Record]:
    """Records of one split of the published files; the claim is the query."""
    for number, annotation in enumerate(read_annotations(folder, FILES[split])):
        tokens = tuple(BRACKETS.get(token, token) for token in annotation.tokens)
        yield Record(f"{split}-{number}", tokens, annotation.label, annotation.query, annotation.evidence)


FEVER = Task(
    name="fever",
    version=1,
    source=Source(
        title="FEVER (ERASER)",
        citation="Thorne et al. 2018; DeYoung et al. 2020, ERASER: A Benchmark to Evaluate Rationalized NLP Models",
        licence="Wikipedia terms, else CC BY-SA 3.0",
        url="https://www.eraserbenchmark.com/zipped/fever.tar.gz",
    ),
    labels=("REFUTES", "SUPPORTS"),
    folder="fever",
    files=FILES,
    read=read,
    # No published preprocessing; two, as for the other task in this form.
    text=TextRules(min_document_frequency=2),
    layout="sequence",
    rationale="human",
    performance="accuracy",
    profile={
        "vectors": "glove-6b-50d",
        "epochs": 8,
        "batch_size": 32,
        "loss_reduction": "sum",
        "weight_decay": 1e-5,
        "select": "accuracy",
    },
    fingerprints={"shared-subset": "66993fa46dd80272526c127c7689f9b71644dafbdbf258de8296c5f4443a7910"},
    published_rows={"train": 97_957, "dev": 6_122, "test": 6_111},
    description="Does the passage support the claim or refute it? People marked the sentences that decide.",
)
