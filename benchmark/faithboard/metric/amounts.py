"""Metrics that read scores as amounts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from torch import Tensor

from faithboard.metric.base import Metric

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64


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
