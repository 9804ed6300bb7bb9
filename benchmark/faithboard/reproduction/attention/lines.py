"""What a reproduction consists of: one JSON line per number that is shown. The page is a pure function of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from faithboard.records import _Json
from faithboard.reproduction.lines import FigureLine, SuiteLine


@dataclass(frozen=True)
class ModelLine(_Json):
    """One task x model: what stands beside each of its numbers."""

    task: str
    published_task: str
    """The task of the paper that it is compared with; empty for a task the paper does not have."""
    model: str
    seeds: list[int]
    gate_passed: bool
    """In every seed."""
    reason: str
    """Why it takes no part in the claims; empty when it does."""
    vectors: str
    training_rows: int
    reservations: str
    """Unverified data, splits smaller than the published ones, a substitute for the paper's data, settings that are not
    those of the task's profile, a last epoch that was the best."""
    examples: int
    """Explained ones."""
    measure: str
    performance: list[float]
    """On the test split, one per seed."""
    published_performance: float | None
    test: int | None = None
    """Texts of the test split, of which the examples are."""
    length: float | None = None
    """Mean number of words of the examples."""
    k: int | None = None
    """Words of a list of the top-k agreement."""


@dataclass(frozen=True)
class TauLine(_Json):
    """One cell of table 2: tau of a pair of measures, over all examples or those of one predicted class."""

    task: str
    model: str
    pair: str
    predicted: int | None
    label: str
    n: int
    """Examples with a defined tau in some seed."""
    mean: float
    """Over examples of the mean over seeds."""
    sd: float
    """Over examples (ddof 0, as published), mean over seeds."""
    seed_spread: float | None
    """Standard deviation (ddof 1) of the means per seed."""
    significant: float | None
    """Share of (example, seed) with p <= 0.05 among the testable; None when no text is."""
    untestable: float
    """Share of the defined that are too short to reach p <= 0.05."""
    undefined: float
    """Share of (example, seed) in which a vector is constant: no tau."""
    top_k: float | None = None
    """Top-k agreement of the pair: over examples of the mean over seeds. None where it was not asked."""
    published_mean: float | None = None
    published_sd: float | None = None
    published_significant: float | None = None
    difference: float | None = None
    verdict: str = ""


@dataclass(frozen=True)
class TriedLine(_Json):
    """A cell that is far from print, as it is on the same examples with models of other settings."""

    task: str
    model: str
    pair: str
    predicted: int | None
    settings: str
    """What is not as in the suite, such as `vectors random`."""
    seeds: list[int]
    mean: float
    seed_spread: float | None
    difference: float
    """To the published number."""


@dataclass(frozen=True)
class DatasetLine(_Json):
    """One cell of table 1."""

    task: str
    quantity: str
    """`vocabulary`, `average length`, `train`, `test` or `performance`."""
    here: float
    published: float
    difference: float
    """Of counts and lengths relative to the published number, of performance absolute."""
    verdict: str
    of: str = ""
    """The class whose texts are counted, or the measure of the performance."""
    why: str = ""
    """What is known of the reason, of a number that differs."""


@dataclass(frozen=True)
class LengthLine(_Json):
    """One quarter of a task's examples by length."""

    task: str
    model: str
    pair: str
    shortest: int
    longest: int
    n: int
    mean: float
    excess_variance: float
    """Variance of tau less what independent orders of these lengths have."""
    significant: float
    not_significant: float
    untestable: float
    undefined: float
    """Shares of (example, seed); the four add up to 1."""


@dataclass(frozen=True)
class PermutationLine(_Json):
    """How far the output moves under shuffled attention, for the examples of one range of the largest weight."""

    task: str
    model: str
    label: str
    """Predicted class; empty for all."""
    low: float
    """Range of the largest weight; 0 to 1 for all examples."""
    high: float
    n: int
    """(Example, seed) pairs."""
    median: float
    """Of the median total variation distance."""
    share_small: float
    """Of them with less than 0.05."""


@dataclass(frozen=True)
class DivergenceLine(_Json):
    """The largest JS divergence of accepted attention."""

    task: str
    model: str
    profile: str
    """`paper` or `code-2019`."""
    predicted: int | None
    label: str
    n: int
    mean: float
    low: float
    """95 % bootstrap interval of the mean over examples."""
    high: float
    median: float
    share: float
    """Of (example, seed) pairs with 0.6 or more; the median is over the same."""
    accepted: float
    """Share of the distributions that keep the output."""
    published_mean: float | None = None
    published_median: float | None = None
    published_share: float | None = None


@dataclass(frozen=True)
class EvidenceLine(_Json):
    """What one claim rests on in one task."""

    claim: str
    task: str
    model: str
    what: str
    value: float
    low: float
    high: float
    """95 % bootstrap interval over examples; both the value itself where there is none."""
    n: int
    threshold: float
    """What it is held against."""
    published: float | None
    holds: bool


@dataclass(frozen=True)
class HeatmapLine(_Json):
    """One text with the model's attention and the most different one that keeps its output. Public tasks only."""

    task: str
    model: str
    seed: int
    example: str
    predicted: str
    words: list[str]
    attention: list[float]
    adversarial: list[float]
    divergence: float
    distance: float
    """Total variation distance of the output."""


@dataclass(frozen=True)
class Reproduction:
    """Everything a page shows."""

    suite: Sequence[SuiteLine]
    models: Sequence[ModelLine]
    datasets: Sequence[DatasetLine]
    taus: Sequence[TauLine]
    lengths: Sequence[LengthLine]
    permutations: Sequence[PermutationLine]
    divergences: Sequence[DivergenceLine]
    evidence: Sequence[EvidenceLine]
    heatmaps: Sequence[HeatmapLine] = field(default_factory=list)
    figures: Sequence[FigureLine] = field(default_factory=list)
    tried: Sequence[TriedLine] = field(default_factory=list)
