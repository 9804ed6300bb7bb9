"""Movie reviews with rationales (Zaidan & Eisner 2008), in the ERASER form: is the review positive?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from faithboard.errors import DataError
from faithboard.readers.eraser import published_files, read_annotations, tokens_of
from faithboard.readers.hub import CONVERTED, class_name
from faithboard.task import HubSource, Record, Source, Task, TextRules

FILES = published_files("movies")
LABELS = ("NEG", "POS")
QUESTION = "What is the sentiment of this review?"


def read(folder: Path, split: str) -> Iterator[Record]:
    """Records of one split of the published files."""
    for number, annotation in enumerate(read_annotations(folder, FILES[split])):
        # Evidence that marks no token, as of one training review, is no rationale.
        marked = annotation.evidence or None
        yield Record(f"{split}-{number}", annotation.tokens, annotation.label, annotation.query, marked)


def convert(split: str, number: int, row: Mapping[str, Any]) -> Record:
    """The record of a row on the hub, whose classes are NEG 0, POS 1.

    The hub has the texts of the evidence and not their places: every place where a text stands counts as marked. In
    about one of 26 reviews that is more than was marked, so the fingerprint is not that of the files.
    """
    where = f"split {split}, row {number}"
    tokens = tokens_of(row["review"])
    spans = [span for text in row["evidences"] for span in _places(tokens, tokens_of(text), where)]
    return Record(f"{split}-{number}", tokens, class_name(LABELS, row["label"], where), QUESTION, tuple(spans) or None)


def _places(tokens: tuple[str, ...], sought: tuple[str, ...], where: str) -> list[tuple[int, int]]:
    """Each span of `tokens` that is `sought`. The published evidence has a few empty texts, which mark nothing."""
    if not sought:
        return []
    size = len(sought)
    starts = [at for at, token in enumerate(tokens) if token == sought[0] and tokens[at : at + size] == sought]
    if not starts:
        raise DataError(f"{where}: evidence {' '.join(sought)[:60]!r} is not in its review; is this another data set?")
    return [(at, at + size) for at in starts]


MOVIES = Task(
    name="movies",
    version=1,
    source=Source(
        title="Movie Reviews with rationales (ERASER)",
        citation="Zaidan & Eisner 2008; DeYoung et al. 2020, ERASER: A Benchmark to Evaluate Rationalized NLP Models",
        licence="not stated by the publisher",
        url="https://www.eraserbenchmark.com/zipped/movies.tar.gz",
    ),
    labels=LABELS,
    folder="movies",
    files=FILES,
    read=read,
    hub=HubSource(
        id="eraser-benchmark/movie_rationales",
        config="default",
        revision=CONVERTED,
        columns=("review", "label", "evidences"),
        convert=convert,
    ),
    # No published preprocessing. Two, as for 20News, whose training split is as small: so `<unk>` is seen in training.
    # Reviews of up to 2,809 tokens are kept whole.
    text=TextRules(min_document_frequency=2),
    layout="sequence",
    rationale="human",
    performance="accuracy",
    profile={"vectors": "glove-6b-50d", "epochs": 8, "batch_size": 32, "loss_reduction": "sum", "weight_decay": 1e-5},
    # One published review has an e-mail address, which is replaced in the shared subset; nothing else differs.
    fingerprints={"shared-subset": "61414526b793cfaa7fce07725e67b78e997b8aae2d5d8e9f9fed91e0cca3a3cd"},
    published_rows={"train": 1600, "dev": 200, "test": 199},
    description="Is the review of a film positive? People marked the passages that say so.",
)
