"""bAbI tasks 1 to 3 (Weston et al. 2015): questions over stories, with the supporting sentences as rationale.

There is no published dev file: the last tenth of the training stories is dev, of generated stories as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from faithboard.generators import babi as generator
from faithboard.readers.babi import Story, read_stories, words_of
from faithboard.readers.files import read_lines, required
from faithboard.readers.hub import CONVERTED
from faithboard.task import HubSource, Record, Source, Task

QUESTIONS = {"train": 10_000, "test": 1_000}
RELEASE = "tasks_1-20_v1-2"


def _records(split: str, stories: list[Story]) -> Iterator[Record]:
    train = len(stories) - len(stories) // 10
    first, last = {"train": (0, train), "dev": (train, len(stories)), "test": (0, len(stories))}[split]
    for number in range(first, last):
        for question in stories[number]:
            yield question.record(f"{split}-{number + 1}-{question.line}")


def _file(split: str) -> str:
    return "test" if split == "test" else "train"


NO_DEV = "no dev split is published: the last tenth of the training stories is the dev split here"
NO_FACTS = "the hub's copy, Muennighoff/babi, has no supporting facts: from there nothing is marked"
SHORT = "the 8 words of the paper's table are no mean: the statistics in its authors' repository give 36, about as here"


def _task(number: int, name: str, facts: str, fingerprints: dict[str, str]) -> Task:
    files = {
        # The release with 10,000 questions is preferred to the one with 1,000.
        split: tuple(
            f"{place}/{size}/qa{number}_{name}_{_file(split)}.txt"
            for size in ("en-10k", "en")
            for place in (RELEASE, f"{RELEASE}.tar.gz/{RELEASE}")
        )
        for split in ("train", "dev", "test")
    }

    def read(folder: Path, split: str) -> Iterator[Record]:
        path = required(folder, files[split])
        return _records(split, list(read_stories(read_lines(path), str(path))))

    def generate(split: str) -> Iterator[Record]:
        file = _file(split)
        lines = enumerate(generator.lines(number, file, QUESTIONS[file]), 1)
        return _records(split, list(read_stories(lines, f"generated qa{number} {file}")))

    def convert(split: str, at: int, row: Mapping[str, Any]) -> Record | None:
        """The record of a row on the hub, which holds all twenty tasks; those of other tasks are dropped by rule."""
        if row["task"] != number:
            return None
        return Record(f"{split}-{at}", words_of(row["passage"]), row["answer"], words_of(row["question"]))

    return Task(
        name=f"babi-{number}",
        version=1,
        source=Source(
            title=f"bAbI task {number}: {name.replace('-', ' ')}",
            citation="Weston et al. 2015, Towards AI-Complete Question Answering",
            licence="CC BY 3.0",
            url="https://research.facebook.com/downloads/babi/ (tasks_1-20_v1-2)",
        ),
        labels=generator.PLACES,
        folder="babi",
        files=files,
        read=read,
        generate=generate,
        hub=HubSource(
            id="Muennighoff/babi",
            revision=CONVERTED,
            columns=("passage", "question", "answer", "task"),
            convert=convert,
            complete=False,
        ),
        layout="pair",
        rationale="supporting-facts",
        performance="accuracy",
        profile={
            "vectors": "random",
            "embedding_dim": 50,
            "hidden": 32,
            "batch_size": 50,
            "epochs": 100,
            "patience": 12,
            "loss_reduction": "mean",
            "weigh_positive": False,
            "select": "accuracy",
        },
        fingerprints=fingerprints,
        # The published 10,000 training questions, less the dev tenth.
        published_rows={"train": 9_000, "dev": 1_000, "test": 1_000},
        family="babi",
        differences=(NO_DEV, NO_FACTS) if number > 1 else (SHORT, NO_DEV, NO_FACTS),
        description=f"Where is it? {facts} decide. Answers are chosen among the six places of tasks 1 to 3.",
    )


BABI_1 = _task(
    1,
    "single-supporting-fact",
    "One sentence",
    {
        "published": "0b3403d5ee96f336a503da3716f023b2fb676b68802b2733a3c6d21f015cd4a6",
        "published-1k": "c72ff2e851a3d1db50a0ce64ee3abb40c00261b92e131d8a6cb3bc1450db4d3a",
        "generated": "af9ad543f2f16978cc4f1a49fadb372b9f5b624c5d7d1cfa3f13920d86bbdc0a",
    },
)
BABI_2 = _task(
    2,
    "two-supporting-facts",
    "Two sentences",
    {
        "published": "e48323ccac4e6caa87e076030037ab4b12c65e93ae49d3f1f4e6424fc27376f0",
        "published-1k": "ed6287943f7ca800d094c52af8cfc91321b58803ff8cf2eb97cf007c1d6a3440",
        "generated": "5cdc232ad35a6d9915e8bc1a9252c278167e75894801f33bc41c5579e0f31bdc",
    },
)
BABI_3 = _task(
    3,
    "three-supporting-facts",
    "Three sentences",
    {
        "published-1k": "bc0f32d68e214cf4f6eafcbf8c9214c72c1c439dad8968ed14b8f660465eebf9",
        "generated": "1c76ec1577b50a74e1f3ff43de3a4fd7d22f00a87a1547202cf0645c6c258d73",
    },
)
