"""What a metric is. The engine owns order and ties; a metric says which tokens to drop and how to read the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier
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


@dataclass(frozen=True)
class ErasureMetric(Metric):
    """Tokens are removed and the model is asked again. The engine pools the masks of all methods and asks once."""

    points: tuple[str, ...] = ()
    """Names of the points of the curve, such as `5%`; the value of an example is the mean over them."""
    masks: Callable[[Int[Tensor, "batch token"], Bool[Tensor, "batch token"]], Bool[Tensor, "batch point token"]] = (
        field(kw_only=True)
    )
    """(rank of each token: 0 for the highest score, T and more where not scorable; scorable) -> tokens to drop."""
    reduce: Callable[[Float64[Tensor, "batch"], Float64[Tensor, "batch point"]], Float64[Tensor, "batch point"]] = (
        field(kw_only=True)
    )
    """(p_j on the full text, p_j on each masked text) -> value of each point."""


@dataclass(frozen=True)
class RationaleMetric(Metric):
    """Scores against tokens marked in the data: planted ones (known truth) or a human's (plausibility)."""

    score: Callable[
        [Int[Tensor, "batch token"], Bool[Tensor, "batch token"], Bool[Tensor, "batch token"]], Float64[Tensor, "batch"]
    ] = field(kw_only=True)
    """(rank of each token, marked tokens, scorable) -> value, NaN where it is undefined for an example."""
    expectation: (
        Callable[[Bool[Tensor, "batch token"], Bool[Tensor, "batch token"]], Float64[Tensor, "batch"]] | None
    ) = None
    """(marked, scorable) -> the value a random order has in expectation."""


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
