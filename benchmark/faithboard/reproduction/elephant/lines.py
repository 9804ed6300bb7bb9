"""What the page consists of: one JSON line per number that is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from faithboard.records import _Json


@dataclass(frozen=True)
class SourceLine(_Json):
    """A leaderboard that the page is made of."""

    board: str
    """Name of its folder."""
    seeds: list[int]
    models: list[str]
    """`task, model` of every trained model that takes part."""
    left_out: list[str]
    """`task, model: reason` of every one that does not."""


@dataclass(frozen=True)
class DuelLine(_Json):
    """Two methods on the same examples and weights, in one metric."""

    board: str
    task: str
    model: str
    metric: str
    better_end: str
    """`higher` or `lower`."""
    a: str
    b: str
    value_a: float
    value_b: float
    difference: float
    """Mean over examples of a - b."""
    low: float
    high: float
    """95 % bootstrap interval over examples."""
    p_holm: float
    n: int
    better: str
    """The method that is significantly better; empty for neither."""


@dataclass(frozen=True)
class AlikeLine(_Json):
    """How alike two methods order the words of a text."""

    board: str
    task: str
    model: str
    a: str
    b: str
    n: int
    tau: float
    low: float
    high: float


@dataclass(frozen=True)
class AttentionLine(_Json):
    """What a model loses when its learned attention is taken from it."""

    board: str
    task: str
    encoder: str
    control: str
    seeds: list[int]
    n: int
    accuracy: float
    """With learned attention, on the seeds that the control has too where the board tells it."""
    loss: float
    """Accuracy with learned attention less that of the control, paired over test examples."""
    low: float
    high: float
    seed_losses: dict[str, float] = field(default_factory=dict)
    """Seed -> `loss` of that seed alone; empty where the board does not tell it."""


@dataclass(frozen=True)
class OperatorLine(_Json):
    """One erasure metric under two operators: do they rank the methods alike?"""

    board: str
    task: str
    model: str
    a: str
    b: str
    methods: int
    tau: float
    low: float | None
    high: float | None
    decided: int
    """Pairs of methods that the paired tests tell apart under both."""
    reversed: int
    """Those of them that stand in opposite order."""


@dataclass(frozen=True)
class Answers:
    """Everything the page shows."""

    sources: Sequence[SourceLine] = field(default_factory=list)
    duels: Sequence[DuelLine] = field(default_factory=list)
    alike: Sequence[AlikeLine] = field(default_factory=list)
    attention: Sequence[AttentionLine] = field(default_factory=list)
    operators: Sequence[OperatorLine] = field(default_factory=list)
