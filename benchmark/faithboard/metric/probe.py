"""Questions to the model itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.metric.base import Metric
from faithboard.rng import Rng

if TYPE_CHECKING:
    from jaxtyping import Float64


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
