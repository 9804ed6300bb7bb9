"""bAbI tasks 1 to 3 (Weston et al. 2015): questions over stories, with the supporting sentences as rationale.

There is no published dev file: the last tenth of the training stories is dev, of generated stories as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from faithboard.generators import babi as generator
from faithboard.readers.babi import Story, read_stories
from faithboard.readers.files import read_lines, required
from faithboard.task import Record, Source, Task

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


def _task(number: int, name: str, facts: str, fingerprints: dict[str, str]) -> Task:
    files = {
        # The release with 10,000 questions is preferred to the one with 1,000.
        split: tuple(f"{RELEASE}/{size}/qa{number}_{name}_{_file(split)}.txt" for size in ("en-10k", "en"))
        for split in ("train", "dev", "test")
    }

    def read(folder: Path, split: str) -> Iterator[Record]:
        path = required(folder, files[split])
        return _records(split, list(read_stories(read_lines(path), str(path))))

    def generate(split: str) -> Iterator[Record]:
        file = _file(split)
        lines = enumerate(generator.lines(number, file, QUESTIONS[file]), 1)
        return _records(split, list(read_stories(lines, f"generated qa{number} {file}")))

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
        description=f"Where is it? {facts} decide. Answers are chosen among the six places of tasks 1 to 3.",
    )


BABI_1 = _task(1, "single-supporting-fact", "One sentence", {})
BABI_2 = _task(2, "two-supporting-facts", "Two sentences", {})
BABI_3 = _task(3, "three-supporting-facts", "Three sentences", {})
