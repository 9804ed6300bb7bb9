"""What this reproduction consists of: one JSON line per number that is shown. The page is a pure function of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from faithboard.records import _Json
from faithboard.reproduction.lines import FigureLine, SuiteLine


@dataclass(frozen=True)
class ModelLine(_Json):
    """One task x model x training: what stands beside each of its numbers. Lists have one entry per seed."""

    task: str
    model: str
    training: str
    seeds: list[int]
    gate_passed: bool
    """In every seed."""
    reason: str
    """Why it takes no part in the claims; empty when it does."""
    examples: int
    """Texts that are explained."""
    accuracy: list[float]
    """On the full test split."""
    confidence: list[float | None]
    """Mean probability of the predicted class, p_j, on the full test split; None where it was not recorded."""
    best_epochs: list[int | None]
    """The epoch whose weights are kept."""
    epochs: int
    """At most, as set."""
    select: str
    """Dev measure that picks the epoch; `last` for none."""
    masking: str
    """Settings of a masking training; empty for another."""
    vectors: str
    training_rows: int
    reservations: str
    """Unverified data, splits smaller than the published ones."""


@dataclass(frozen=True)
class MissingLine(_Json):
    """What the suite asks for and is not stored."""

    task: str
    says: str


@dataclass(frozen=True)
class ValueLine(_Json):
    """One cell of the table: a method in a metric on models of one training."""

    task: str
    model: str
    training: str
    method: str
    metric: str
    """`comprehensiveness` or `sufficiency`."""
    profile: str
    """`eraser-code`, `paper`, or `normalised` by what any order of the text's words reaches on the model."""
    seeds: list[int]
    n: int
    """Texts with a value."""
    value: float
    """Mean over texts of the mean over seeds."""
    low: float
    high: float
    """95 % bootstrap interval over texts, conditional on the trained models."""
    seed_spread: float | None
    """Standard deviation (ddof 1) of the means per seed."""
    undefined: float
    """Share of (text, seed) without a value of its own, which takes that of a random order."""
    relative: float | None
    """The same of the values divided by the mean confidence of the seed's model; None where it was not recorded, and
    for normalised values."""
    relative_low: float | None
    relative_high: float | None
    published: float | None
    difference: float | None
    """Ours less the published one."""


@dataclass(frozen=True)
class DifferenceLine(_Json):
    """Training a less training b: the same texts, the seeds that both have."""

    task: str
    model: str
    a: str
    b: str
    method: str
    metric: str
    profile: str
    seeds: list[int]
    n: int
    value: float
    low: float
    high: float
    seed_spread: float | None
    agreeing: int
    """Seeds whose own difference has the sign of the value."""
    published: float | None
    verdict: str
    relative: float | None
    """The same of the values divided by the mean confidence of the seed's model."""
    relative_low: float | None
    relative_high: float | None
    relative_verdict: str


@dataclass(frozen=True)
class BaselineLine(_Json):
    """A method less a random order on the same models: does it say anything?"""

    task: str
    model: str
    training: str
    method: str
    metric: str
    profile: str
    seeds: list[int]
    n: int
    value: float
    low: float
    high: float
    agreeing: int
    published: float | None
    verdict: str


@dataclass(frozen=True)
class AccuracyLine(_Json):
    """Accuracy and confidence of training a less training b, on the full test split and the seeds that both have."""

    task: str
    model: str
    a: str
    b: str
    seeds: list[int]
    n: int
    """Test texts."""
    value: float
    low: float
    high: float
    """95 % bootstrap interval of the difference of accuracy, paired over texts."""
    seed_spread: float | None
    agreeing: int
    """Seeds whose own difference has the sign of the value."""
    verdict: str
    confidence: float | None
    """Difference of the mean probability of the predicted class."""
    confidence_spread: float | None
    """Standard deviation (ddof 1) of it over seeds."""


@dataclass(frozen=True)
class ShareLine(_Json):
    """What the rule that chooses k, the share of words that saliency-guided training masks, sees on the dev split."""

    task: str
    model: str
    share: float
    """k of these models."""
    seeds: list[int]
    """That both trainings have."""
    measure: str
    """`accuracy`, which the rule asks for; where it is not recorded the measure that picked the epoch; empty where
    none is."""
    standard: list[float]
    guided: list[float]
    """At the epoch that is kept, one per seed; empty without a measure."""
    difference: float | None
    """Saliency-guided less standard, mean over seeds."""
    verdict: str


@dataclass(frozen=True)
class EvidenceLine(_Json):
    """One comparison that a claim rests on."""

    claim: str
    task: str
    what: str
    value: float
    low: float
    high: float
    n: int
    seeds: int
    agreeing: int
    """Seeds whose own difference has the sign of the value."""
    published: float | None
    holds: bool
    opposite: bool
    """True when the opposite is shown: not holding may also mean that nothing is."""
    verdict: str


@dataclass(frozen=True)
class CurveLine(_Json):
    """The points behind a value: mean over texts and seeds at each share of the words."""

    task: str
    model: str
    training: str
    method: str
    metric: str
    points: list[str]
    """Shares of the words that are removed (comprehensiveness) or kept (sufficiency)."""
    curve: list[float]
    low: list[float]
    high: list[float]
    """95 % interval over texts of one seed, mean over seeds: no narrower than that of the mean over seeds."""


@dataclass(frozen=True)
class Reproduction:
    """Everything a page shows."""

    suite: Sequence[SuiteLine]
    models: Sequence[ModelLine]
    missing: Sequence[MissingLine]
    values: Sequence[ValueLine]
    differences: Sequence[DifferenceLine]
    equal_epochs: Sequence[DifferenceLine]
    """The differences over those seeds alone whose two models kept equal epochs; none where that is all of them."""
    baselines: Sequence[BaselineLine]
    accuracies: Sequence[AccuracyLine]
    shares: Sequence[ShareLine]
    evidence: Sequence[EvidenceLine]
    curves: Sequence[CurveLine]
    figures: Sequence[FigureLine] = field(default_factory=list)
