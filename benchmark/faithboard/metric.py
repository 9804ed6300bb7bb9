"""What a metric is. The engine owns order and ties; a metric says which tokens to drop and how to read the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, Self

from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.errors import ContractError
from faithboard.operators import operator_named
from faithboard.rng import Rng

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int


@dataclass(frozen=True)
class Metric:
    """What every kind of metric has. `name`, `version` and `parameters` are its identity."""

    name: str
    version: int
    better: Literal["higher", "lower", "neither"]
    source: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the rows it makes."""
        return (self.name,)

    @property
    def needed(self) -> frozenset[str]:
        """What a model must be able to do (`Classifier.capabilities`); one that is not has no row of the metric."""
        return frozenset()

    def masks_asked(self, length: int) -> int:
        """Masked texts that one draw of one example of T scorable tokens asks for at most."""
        return 0

    def own_steps(self, length: int) -> float:
        """Planned token steps, at most, of one draw of one example, special tokens apart."""
        return 0.0

    def shared_steps(self, length: int) -> float:
        """Planned token steps, at most, of one example that are spent once for all methods of a model."""
        return 0.0


@dataclass(frozen=True)
class Erased:
    """What an `ErasureMetric` reads: its own choice of number for each text, whole and with tokens taken away."""

    full: Float64[Tensor, "batch"]
    masked: Float64[Tensor, "batch mask"]
    scorable: Bool[Tensor, "batch token"]


def mean_of_points(points: Float64[Tensor, "batch point"]) -> Float64[Tensor, "batch"]:
    """The plain mean over the points of a curve."""
    return points.mean(1)


@dataclass(frozen=True)
class ErasureMetric(Metric):
    """Tokens are removed and the model is asked again. The engine pools the masks of all methods and asks once."""

    points: tuple[str, ...] = ()
    """Names of the points of the curve, such as `5%`; empty for a metric of one number and no curve."""
    masks: Callable[[Int[Tensor, "batch token"], Bool[Tensor, "batch token"]], Bool[Tensor, "batch mask token"]] = (
        field(kw_only=True)
    )
    """(rank of each token: 0 for the highest score, T and more where not scorable; scorable) -> tokens to drop."""
    reduce: Callable[[Erased], Float64[Tensor, "batch point"]] = field(kw_only=True)
    """What was read of each text -> value of each point (of one, where there is no curve)."""
    value: Callable[[Float64[Tensor, "batch point"]], Float64[Tensor, "batch"]] = mean_of_points
    """Points of an example -> its value."""
    operator: str = "delete"
    """How tokens are taken away: see `faithboard.operators`."""
    reads: Literal["probability", "decision", "label"] = "probability"
    """What is read of each text: p_j, j the class predicted on the whole text; 1.0 where j is still predicted; 1.0
    where the gold label is. Methods never see a label, metrics may."""
    asks: Callable[[int], int] | None = None
    """Scorable length T -> number of masks of one example; None for one per point."""
    longest: int | None = None
    """Texts of more scorable tokens are not computed: excluded for every method, and counted."""
    gridded: int | None = None
    """In texts of more scorable tokens only a grid of prefixes is asked; counted."""
    bounds: Callable[[Classifier, Batch], Float64[Tensor, "batch 2"]] | None = None
    """(model, batch) -> lowest and highest value that any order can reach; points are then given as their share of the
    way from the one to the other. Bounds belong to model and example: the engine asks once for all methods."""
    bounds_steps: Callable[[int], float] | None = None
    """Scorable length T -> planned token steps of the bounds of one example."""

    def __post_init__(self) -> None:
        """The operator is part of the identity, whether or not the definition repeats it. Raises ContractError."""
        operator_named(self.operator)
        if self.operator != "delete":
            object.__setattr__(self, "parameters", {**self.parameters, "operator": self.operator})

    @property
    def needed(self) -> frozenset[str]:
        """What its operator needs."""
        return operator_named(self.operator).needs

    def masks_asked(self, length: int) -> int:
        return len(self.points) if self.asks is None else self.asks(length)

    def own_steps(self, length: int) -> float:
        """A pass over the text for each mask, but where a text is encoded once for all of them."""
        return 0.0 if operator_named(self.operator).apply is None else float(self.masks_asked(length) * length)

    def shared_steps(self, length: int) -> float:
        once = length if operator_named(self.operator).apply is None else 0
        return once + (self.bounds_steps(length) if self.bounds_steps else 0.0)


@dataclass(frozen=True)
class Amounts:
    """What an `AmountMetric` reads: scores, what they promise to sum to, and what sets of tokens take from p_j."""

    scores: Float64[Tensor, "batch token"]
    """0 where not scorable."""
    total: Float64[Tensor, "batch"]
    """The sum that the method promises; NaN without a promise."""
    scorable: Bool[Tensor, "batch token"]
    drop: Bool[Tensor, "batch subset token"]
    """Random sets of tokens, the same for every method."""
    loss: Float64[Tensor, "batch subset"]
    """p_j(x) - p_j(x without the set)."""


@dataclass(frozen=True)
class AmountMetric(Metric):
    """Scores taken as amounts, not as an order: against their promised sum, or what sets of tokens add up to."""

    score: Callable[[Amounts], Float64[Tensor, "batch"]] = field(kw_only=True)
    """Value of each example, NaN where it is undefined."""
    subsets: int = 0
    """Random sets of tokens deleted per example, their sizes uniform in 1..T."""
    promised: bool = False
    """Whether it asks for a promised sum; a method without one has no value."""
    statistic: Literal["mean", "median"] = "mean"
    """Of the examples, as the value of the row; beside a median stands the 95th percentile."""

    def shared_steps(self, length: int) -> float:
        return float(self.subsets * length)


@dataclass(frozen=True)
class RerunMetric(Metric):
    """The method is run again on changed models. It costs as many explanations as there are repeats."""

    repeats: int = field(kw_only=True)
    changed: Callable[[Classifier, Batch, Rng, int], Classifier | None] = field(kw_only=True)
    """(model, batch, rng, number of the repeat) -> the model of that repeat; None where this model has none such. It is
    the same for every method: draw from rng alone."""
    score: Callable[
        [Float64[Tensor, "batch token"], Float64[Tensor, "batch repeat token"], Bool[Tensor, "batch token"]],
        Float64[Tensor, "batch *point"],
    ] = field(kw_only=True)
    """(scores, scores on each changed model, scorable) -> value of each example and, where there are any, point; NaN
    where undefined. Scores are 0 where not scorable and NaN on a model that is not there."""
    points: tuple[str, ...] = ()
    """Names of the points that `score` gives, the last being the value of the metric; empty for one number."""
    kind: Literal["sensitivity", "sanity"] = "sensitivity"
    """`sanity`: a check that a method passes or fails, not a measure it is ranked by."""


@dataclass(frozen=True)
class RetrainMetric(Metric):
    """The words of largest |score| are deleted from all splits, and a fresh model is trained on what is left.

    The value of an example is the share of its points at which its gold label is still given: the engine removes,
    trains and asks (`running.retraining`). Draws of a method are trainings here, so it has one.
    """

    shares: tuple[int, ...] = field(kw_only=True)
    """Per cent of the scorable tokens that are gone at each point, ascending."""
    recursive: bool = field(kw_only=True)
    """Whether what is left at a point is explained anew, by the model that was trained on it, to choose what goes next;
    if not, the order that the method gives for the job's own model holds for all points."""

    def __post_init__(self) -> None:
        """All of it is part of the identity. Raises ContractError for shares that do not ascend within 1 to 100."""
        if not self.shares or any(b <= a for a, b in pairwise((0, *self.shares))) or self.shares[-1] > 100:
            raise ContractError(f"metric {self.name}: shares must ascend within 1 to 100, got {self.shares}")
        own = {"shares": list(self.shares), "recursive": self.recursive}
        fixed = {"operator": "delete", "order": "magnitude", "draws": 1}
        object.__setattr__(self, "parameters", {**self.parameters, **own, **fixed})

    @property
    def points(self) -> tuple[str, ...]:
        """Names of the points of the curve."""
        return tuple(f"{share}%" for share in self.shares)

    @property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        """For each point the shares at which an order was asked for: all up to it, or itself alone."""
        if self.recursive:
            return tuple(self.shares[: at + 1] for at in range(len(self.shares)))
        return tuple((share,) for share in self.shares)


RunsMethods = RerunMetric | RetrainMetric
"""Kinds that run the method themselves, one explanation at a time: what they ask is not pooled with that of others."""


@dataclass(frozen=True)
class RationaleMetric(Metric):
    """Scores against tokens marked in the data: planted ones (known truth) or a human's (plausibility)."""

    score: Callable[..., Float64[Tensor, "batch"]] = field(kw_only=True)
    """(rank of each token, marked tokens, scorable) -> value, NaN where it is undefined for an example."""
    expectation: Callable[..., Float64[Tensor, "batch"]] | None = None
    """(marked, scorable) -> the value a random order has in expectation."""
    of: frozenset[str] = frozenset({"planted", "human", "supporting-facts"})
    """Which marks it is about: see `Task.rationale`."""
    needs_share: bool = False
    """Whether `score` and `expectation` want `share` as well, the average share of the tokens that the dev split marks:
    how long a predicted rationale is. It is a number of the data, and the engine gives it (`at_share`)."""

    def at_share(self, share: float) -> Self:
        """The metric with `share` given; it is one of the parameters of its rows."""
        return replace(
            self,
            score=partial(self.score, share=share),
            expectation=None if self.expectation is None else partial(self.expectation, share=share),
            parameters={**self.parameters, "share": share},
            needs_share=False,
        )


@dataclass(frozen=True)
class ProbeContext:
    """What a probe may know beside the model and the batch."""

    seed: int
    """Of the model, for draws that do not belong to one example."""
    rng: Rng
    """For draws that do: batch size and order change nothing."""
    mean_length: float
    """Mean number of scorable tokens of the examples of the task."""
    answers_questions: bool
    """Whether the task is a passage and a query: Jain & Wallace (2019) use another epsilon for those."""


@dataclass(frozen=True)
class Probe(Metric):
    """A question to the model itself, without a method: how attention agrees with other measures, say."""

    needs: frozenset[str] = frozenset()
    points: tuple[str, ...] = ()
    """Names of the columns that `probe` returns."""
    probe: Callable[[Classifier, Batch, ProbeContext], Float64[Tensor, "batch point"]] = field(kw_only=True)
    """(model, batch, context) -> one value per example and column, NaN where undefined."""
    steps: Callable[[int], tuple[float, float]] | None = None
    """Scorable length T -> planned token steps (forward, backward) of one example; None when it does not say."""

    @property
    def rows(self) -> tuple[str, ...]:
        """One row per column."""
        return self.points
