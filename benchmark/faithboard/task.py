"""What a task is: frozen data about a data set, and the records and examples that come out of it.

Constructing a `Task` loads nothing. `faithboard.data` turns one into tokenised, counted, fingerprinted splits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Record:
    """One labelled text as published, before any text rule."""

    id: str
    """Unique in the task; empty where the publisher gives no number or name that all copies share. The text then names
    itself, by its content."""
    text: str | tuple[str, ...]
    """A string is tokenised; a tuple was published as tokens and is kept as it is (lower case and digit rule apart)."""
    label: str
    query: str | tuple[str, ...] = ()
    rationale: tuple[tuple[int, int], ...] | None = None
    """Spans [start, end), or None where the data has no rationale: over the tokens of a text published as tokens, over
    the characters of a string."""
    query_rationale: tuple[tuple[int, int], ...] | None = None
    """The same over the query, where people marked words of both."""
    candidates: tuple[str, ...] | None = None
    """Labels that can be the answer to this text; None means all of them."""
    annotators: tuple[tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]], ...] = ()
    """What each of several people marked, spans of text and query, where the rationale is their union."""


@dataclass(frozen=True)
class Example:
    """One text after the text rules: what a batch is made of."""

    id: str
    tokens: tuple[str, ...]
    query: tuple[str, ...]
    label: int
    rationale: tuple[bool, ...] | None = None
    """One flag per token of `tokens`."""
    query_rationale: tuple[bool, ...] | None = None
    """One flag per token of `query`."""
    candidates: tuple[int, ...] | None = None
    truncated: int = 0
    """Number of tokens cut off the end of `tokens` by the task's length limit."""


@dataclass(frozen=True)
class TextRules:
    """How published text becomes tokens (Jain & Wallace 2019, their published preprocessing)."""

    lower: bool = True
    digits: str | None = "qqq"
    """A word that contains a digit becomes this word; None keeps it."""
    min_document_frequency: int = 1
    """Words in fewer training texts than this become `<unk>`."""
    more_than: int = 1
    """Every part that is explained needs more tokens than this; other texts are excluded and counted. 1 excludes empty
    and one-token texts. A query that is not explained only must not be empty."""
    fewer_than: int | None = None
    """Texts need fewer tokens than this; others are excluded and counted."""
    max_tokens: int | None = None
    """Longer texts are cut here, visibly: examples and tokens cut are counted."""


@dataclass(frozen=True)
class HubSource:
    """Where a task lies on the Hugging Face hub, and how a row there becomes a record."""

    id: str
    revision: str
    convert: Callable[[str, int, Mapping[str, Any]], Record | None]
    """(split, row number, row) -> record, or None for a row the task drops by rule."""
    columns: tuple[str, ...]
    config: str | None = None
    complete: bool = True
    """False where the hub's copy lacks something, as supporting facts: its content is not the published one."""
    splits: Mapping[str, str] = field(default_factory=lambda: {"train": "train", "dev": "validation", "test": "test"})


@dataclass(frozen=True)
class Source:
    """Who made the data, what it may be used for, and where a person gets it."""

    title: str
    citation: str
    licence: str
    url: str
    access: Literal["open", "on request", "credentialed", "generated"] = "open"


Reader = Callable[[Path, str], Iterable[Record | None]]
"""(folder, split) -> records of the split, from the published files, None for a row the task drops by rule.

Raises DataError with file and line.
"""


@dataclass(frozen=True)
class Task:
    """Definition of one data set. Everything here is part of its identity except what only people read."""

    name: str
    version: int
    source: Source
    labels: tuple[str, ...]
    """Class names in the order of the model's outputs."""
    folder: str
    """Name of the folder below the data root that holds the published files."""
    own_file: Path | None = None
    """The file of a person's own task: it is read by `read(own_file, split)`, whatever the data root is."""
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """split -> names a published file of it can have, relative to the folder; any one of them, plain or with `.gz`
    added, is enough. A name may lead into an archive: `published.tar.gz/folder/train.txt`. Files that no single split
    owns (a folder of documents) get a key of their own."""
    read: Reader | None = None
    hub: HubSource | None = None
    generate: Callable[[str], Iterable[Record]] | None = None
    """split -> records, for tasks that need no download."""
    text: TextRules = TextRules()
    distinct: bool = False
    """True drops a text of a class that came before in the same split, by rule."""
    cut: Mapping[str, float] = field(default_factory=dict)
    """split -> share of the training texts that become this split where the data has none of its own, in (0, 1): cut
    off per class and by content, so neither the order of the texts nor the way they came plays a part."""
    layout: Literal["single", "pair", "sequence"] = "single"
    """single text; passage and query through two encoders; or one sequence `text <sep> query <sep>`."""
    explained: tuple[Literal["text", "query"], ...] = ("text",)
    rationale: Literal["planted", "human", "supporting-facts"] | None = None
    planted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """label -> the tokens planted for it, for tasks of known truth."""
    swaps: Mapping[tuple[str, ...], Mapping[tuple[str, ...], str]] = field(default_factory=dict)
    """Where the tokens of a label are no fixed set: what is planted in a text, in its order -> what can stand in those
    places, one for one -> the label of the text then. An empty string takes a token away."""
    performance: Literal["f1-weighted", "f1-positive", "accuracy"] = "accuracy"
    profile: Mapping[str, Any] = field(default_factory=dict)
    """Model and training settings that the paper used for this data set; see `ModelConfig` and `TrainingConfig`."""
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    """name (`published`, `shared-subset`, `generated`) -> content fingerprint of the data."""
    published_rows: Mapping[str, int] = field(default_factory=dict)
    """split -> rows of the full published data set, to show when fewer are here."""
    family: str | None = None
    """Tasks of one family count once in a mean over tasks."""
    private: bool = False
    """True keeps texts out of terminals, artifacts and MLflow (clinical notes, tweets)."""
    description: str = ""
    differences: tuple[str, ...] = ()
    """Why numbers here are known to differ from the paper's table of data sets, one sentence each."""

    @property
    def binary(self) -> bool:
        return len(self.labels) == 2

    @property
    def chooses_candidates(self) -> bool:
        """True when the answer is chosen among candidates rather than a fixed set of classes of equal standing."""
        return self.layout == "pair" and self.performance == "accuracy" and len(self.labels) > 3
