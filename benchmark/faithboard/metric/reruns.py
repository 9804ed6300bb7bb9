"""Metrics that run the method themselves: on changed models, and for models trained on what is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.errors import ContractError
from faithboard.metric.base import Metric
from faithboard.rng import Rng

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64


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
