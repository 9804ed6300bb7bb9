"""What comes out of the statistics: tables, standings in them, and comparisons of two methods. One JSON line each.

A leaderboard's Markdown is a pure function of these lines; they are committed beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from faithboard.records import Status, _Json
from faithboard.stats.agreed import MethodAgreement, MetricAgreement, SanityCheck
from faithboard.stats.checks import ModelCheck


@dataclass(frozen=True)
class Table(_Json):
    """What all rows of one table share: a trained model (task x architecture x training), in every seed."""

    key: str
    """`task-version/model/training/first digits of the fingerprint`; every other line names its table by it."""
    suite: str
    suite_version: int
    task: str
    task_version: int
    family: str
    """Tasks of one family count once in a mean over tasks; a task without one is its own."""
    fingerprint: str
    fingerprint_name: str
    model: str
    training: str
    vectors: str
    seeds: list[int]
    device: str
    """The device that most of the table's explanations ran on; rows of another are not ranked."""
    performance_measure: str
    performance: dict[str, list[float]] = field(default_factory=dict)
    """Measure -> value on the full test split for each seed that was trained."""
    gate_passed: bool = False
    """True when every seed passed the accuracy gate."""
    gate: dict[str, float] = field(default_factory=dict)
    """`bound` and `threshold` of the seed that came closest to failing."""
    share_correct: float | None = None
    """Share of the explained examples that are predicted right, mean over seeds."""
    data: dict[str, Any] = field(default_factory=dict)
    """Rows used, excluded and truncated per split, vocabulary size, embedding coverage."""
    config: dict[str, Any] = field(default_factory=dict)
    """Settings of the model and of its training."""
    timing: dict[str, Any] = field(default_factory=dict)
    """`device`, `dtype`, `torch` and `threads` that the speeds of the table were measured with, those of most methods;
    empty when nothing was timed."""
    known_truth: dict[str, float] = field(default_factory=dict)
    """Planted tasks: the worst seed's `verified`, and mean accuracy with, without and with swapped planted tokens."""
    reason: str = ""
    """Why nothing in the table is ranked, such as a failed gate; empty when rows may be."""
    training_cost: dict[str, Any] = field(default_factory=dict)
    """What an epoch of the training costs beside one of standard training: see `ModelRecord.training_cost`."""

    @property
    def has_known_truth(self) -> bool:
        """Whether every seed is verified to use the planted tokens: only then are marked tokens known truth."""
        return bool(self.known_truth.get("verified"))


@dataclass(frozen=True)
class Standing(_Json):
    """One method in one metric of one table."""

    table: str
    suite: str
    suite_version: int
    task: str
    model: str
    training: str
    method: str
    method_kind: str
    signed: bool
    metric: str
    metric_version: int
    metric_kind: Literal["erasure", "retraining", "amounts", "sensitivity", "sanity", "rationale", "probe"]
    better: Literal["higher", "lower", "neither"]
    status: Status
    reason: str
    """Why it is not ranked; empty when it is."""
    value: float | None = None
    """Mean (`statistic`) over examples of the mean over seeds (and draws)."""
    low: float | None = None
    high: float | None = None
    """95 % bootstrap percentile interval over examples, conditional on the trained models."""
    seed_means: dict[str, float] = field(default_factory=dict)
    """Seed -> mean over examples."""
    seed_spread: float | None = None
    """Standard deviation (ddof 1) of the means per seed; None for one seed."""
    n: int = 0
    """Examples behind the value, the same for every method of the table."""
    excluded: int = 0
    """Explained examples that are left out for every method alike."""
    truncated: int = 0
    """Explained examples that were cut at the task's length limit."""
    undefined_share: float = 0.0
    """Share of (example, seed) without a defined value; where there is a random baseline they have its value."""
    rank: int | None = None
    """1 + number of methods significantly better."""
    rank_high: int | None = None
    """Number of ranked methods less those significantly worse: the rank at worst. At best it is `rank`."""
    ranked: int = 0
    """Number of methods that are ranked in this table and metric."""
    expectation: float | None = None
    """What a random order has in expectation, where the metric can say so."""
    points: list[str] = field(default_factory=list)
    curve: list[float] = field(default_factory=list)
    """Mean of each point over examples and seeds."""
    curve_low: list[float] = field(default_factory=list)
    """95 % interval of each point, mean over seeds: no narrower than that of the mean over seeds."""
    curve_high: list[float] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    """What holds for some of the explained examples, in words -> for how many, the same for every method."""
    statistic: Literal["mean", "median"] = "mean"
    """What `value` is of the examples. Medians are shown and not ranked: the paired tests are about means."""


@dataclass(frozen=True)
class Cost(_Json):
    """What one method of one table costs. Steps need no clock; speeds were measured in the setting of the table."""

    table: str
    task: str
    model: str
    training: str
    method: str
    forward_steps: float | None
    """Token steps through the encoder per example and draw, mean over seeds; None where they were not counted."""
    backward_steps: float | None
    examples_per_second: float | None
    """Of the explain step alone, as all that follows; median over seeds, None when it was not timed in the setting."""
    tokens_per_second: float | None
    spread: float | None
    """Seconds of the slowest repeat less those of the fastest, as a share of the median; the largest over seeds."""
    peak_memory_mb: float | None
    """Above the weights, the largest over seeds; None where it cannot be measured (on a CPU)."""
    batch_size: int | None
    """Examples at a time, the smallest over seeds: it is halved where memory does not suffice."""
    joules_per_example: float | None
    """Of the whole device, median over seeds; None without a counter of energy."""
    reason: str = ""
    """Why there is no speed; empty when there is."""


@dataclass(frozen=True)
class Comparison(_Json):
    """Method a against method b: the same examples, the same weights, in one metric of one table."""

    table: str
    task: str
    model: str
    training: str
    metric: str
    a: str
    b: str
    n: int
    difference: float
    """Mean over examples of a - b."""
    low: float
    high: float
    """95 % bootstrap percentile interval of the difference."""
    wins: int
    """Examples where a is better; `losses` where b is; the rest are ties."""
    ties: int
    losses: int
    p: float
    """Two-sided sign-flip test."""
    p_holm: float
    """Adjusted over all pairs of the table and metric."""
    same_sign: bool
    """True when the mean difference has one sign in every seed."""
    better: str
    """The method that is significantly better (Holm p <= 0.05 and one sign in every seed); empty for neither."""


@dataclass(frozen=True)
class ProbeSummary(_Json):
    """One column of a probe of one table's model, over all explained examples or those of one predicted class."""

    table: str
    task: str
    model: str
    training: str
    probe: str
    predicted: int | None
    """Index of the predicted class; None for all examples together."""
    n: int
    """Examples with a defined value in some seed."""
    value: float
    """Mean over examples of the mean over seeds."""
    low: float
    high: float
    """95 % bootstrap interval over examples."""
    example_spread: float
    """Standard deviation over examples (ddof 0, as published), mean over seeds."""
    seed_spread: float | None
    """Standard deviation (ddof 1) of the means per seed; None for one seed."""
    undefined_share: float
    """Share of (example, seed) without a value: a constant vector, fewer than two tokens."""
    significant_share: float | None = None
    """Share of p <= 0.05 among the tested; None for a probe without a test."""
    untestable_share: float | None = None
    """Share of the defined that are too short for p <= 0.05 to be reached: not the same as not significant."""
    seeds: list[int] = field(default_factory=list)
    """Seeds with a value."""


@dataclass(frozen=True)
class Board:
    """Everything a leaderboard shows."""

    tables: Sequence[Table]
    standings: Sequence[Standing]
    comparisons: Sequence[Comparison]
    probes: Sequence[ProbeSummary]
    costs: Sequence[Cost] = ()
    checks: Sequence[ModelCheck] = ()
    sanity: Sequence[SanityCheck] = ()
    method_agreement: Sequence[MethodAgreement] = ()
    metric_agreement: Sequence[MetricAgreement] = ()
