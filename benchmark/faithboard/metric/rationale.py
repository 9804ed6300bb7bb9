"""Metrics that hold an order against tokens marked in the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Self

from torch import Tensor

from faithboard.metric.base import Metric

if TYPE_CHECKING:
    from jaxtyping import Float64


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
