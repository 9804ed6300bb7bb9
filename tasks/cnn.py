"""CNN cloze questions (Hermann et al. 2015): which entity of the article fills the gap?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from faithboard.readers.cnn import read_questions
from faithboard.readers.files import required
from faithboard.task import Record, Source, Task, TextRules

ENTITIES = 600
"""A published passage has up to 527 entities (Hermann et al. 2015, table 1), whose numbers leave gaps."""
FILES = {
    split: (
        f"questions/{name}",
        f"cnn/questions/{name}",
        f"cnn.tgz/cnn/questions/{name}",
        f"{split}.txt",
        f"cnn/{split}.txt",
        f"cnn.tar.gz/cnn/{split}.txt",
    )
    for split, name in {"train": "training", "dev": "validation", "test": "test"}.items()
}


def read(folder: Path, split: str) -> Iterator[Record | None]:
    """Records of one split in either form, None where no entity of the passage is the answer."""
    for question in read_questions(required(folder, FILES[split])):
        candidates = question.entities
        yield (
            Record(f"{split}-{question.name}", question.passage, question.answer, question.words, candidates=candidates)
            if question.answer in candidates
            else None
        )


CNN = Task(
    name="cnn-qa",
    version=1,
    source=Source(
        title="CNN question answering",
        citation="Hermann et al. 2015, Teaching Machines to Read and Comprehend",
        licence="none stated for the articles; the scripts of rc-data are Apache-2.0",
        url="https://cs.nyu.edu/~kcho/DMQA/ (cnn.tgz of questions), or the preprocessed cnn.tar.gz of "
        "https://github.com/danqi/rc-cnn-dailymail",
    ),
    labels=tuple(f"@entity{number}" for number in range(ENTITIES)),
    folder="cnn-qa",
    files=FILES,
    read=read,
    # The 2019 code applies its digit rule to other data only: it would make one word of all entities.
    text=TextRules(digits=None, min_document_frequency=8),
    layout="pair",
    performance="accuracy",
    profile={
        "vectors": "glove-6b-50d",
        "batch_size": 90,
        "epochs": 25,
        "loss_reduction": "mean",
        "weigh_positive": False,
        "select": "accuracy",
    },
    fingerprints={"shared-subset": "6dd1df83becca19c19ead9434de8ff441233e9589e9e1aa38d02deb9081fdb0a"},
    published_rows={"train": 380_298, "dev": 3_924, "test": 3_198},
    description="Which entity fills the gap in a sentence about the article? Candidates are the entities in it.",
)
