"""Metrics that take tokens away and ask the model again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.metric.base import Metric
from faithboard.operators import operator_named

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int


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
    most: int | None = None
    """Only so many of the explained examples, the first, are computed; the others are excluded for every method, and
    counted. For what costs more than all other metrics together."""
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
