"""Comprehensiveness and sufficiency (DeYoung et al. 2020, "ERASER", section 4.2), in two profiles.

p_j is the probability of the class that the model predicts on the full text; the gold label plays no part. Each is
measured under every operator (`faithboard.operators`), as a metric of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from faithboard.metric import Erased, ErasureMetric
from faithboard.operators import OPERATORS

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int

CODE = (1, 5, 10, 20, 50)
"""Shares of the text in per cent, as the published code of ERASER averages them."""
PAPER = (0, *CODE)
"""The printed formula divides by one more than the number of shares and counts from 0."""

Masks = Callable[["Int[Tensor, 'batch token']", "Bool[Tensor, 'batch token']"], "Bool[Tensor, 'batch point token']"]


def bin_sizes(scorable: Bool[Tensor, "batch token"], shares: tuple[int, ...]) -> Int[Tensor, "batch point"]:
    """ceil(q T) tokens for each share q, in integers: 0.05 * 20 in floating point can round up to 2."""
    per_cent = torch.tensor(shares, device=scorable.device)
    return (scorable.sum(1, keepdim=True) * per_cent + 99) // 100


def comprehensiveness(name: str, shares: tuple[int, ...], profile: str, operator: str = "delete") -> ErasureMetric:
    """Mean over the shares q of p_j(x) - p_j(x without its top ceil(q T) tokens)."""

    def masks(
        rank: Int[Tensor, "batch token"], scorable: Bool[Tensor, "batch token"]
    ) -> Bool[Tensor, "batch point token"]:
        return scorable[:, None] & (rank[:, None] < bin_sizes(scorable, shares)[:, :, None])

    return _metric(name, "higher", shares, profile, operator, masks)


def sufficiency(name: str, shares: tuple[int, ...], profile: str, operator: str = "delete") -> ErasureMetric:
    """Mean over the shares q of p_j(x) - p_j(the top ceil(q T) tokens of x alone)."""

    def masks(
        rank: Int[Tensor, "batch token"], scorable: Bool[Tensor, "batch token"]
    ) -> Bool[Tensor, "batch point token"]:
        return scorable[:, None] & (rank[:, None] >= bin_sizes(scorable, shares)[:, :, None])

    return _metric(name, "lower", shares, profile, operator, masks)


def _metric(
    name: str, better: Literal["higher", "lower"], shares: tuple[int, ...], profile: str, operator: str, masks: Masks
) -> ErasureMetric:
    by_attention = "; operator: Serrano & Smith 2019, section 3.1" if operator == "attention" else ""
    return ErasureMetric(
        name=name,
        version=1,
        better=better,
        source=f"DeYoung et al. 2020 (ERASER), section 4.2{by_attention}",
        parameters={"shares": list(shares), "profile": profile, "operator": operator},
        operator=operator,
        points=tuple(f"{share}%" for share in shares),
        masks=masks,
        reduce=drop_in_probability,
    )


def drop_in_probability(read: Erased) -> Float64[Tensor, "batch mask"]:
    """p_j(x) less p_j of each masked text."""
    return read.full[:, None] - read.masked


COMPREHENSIVENESS = comprehensiveness("comprehensiveness", CODE, "eraser-code")
SUFFICIENCY = sufficiency("sufficiency", CODE, "eraser-code")
COMPREHENSIVENESS_PAPER = comprehensiveness("comprehensiveness-paper", PAPER, "paper")
SUFFICIENCY_PAPER = sufficiency("sufficiency-paper", PAPER, "paper")
BY_OPERATOR = tuple(
    metric
    for operator in OPERATORS
    if operator != "delete"
    for metric in (
        comprehensiveness(f"comprehensiveness-{operator}", CODE, "eraser-code", operator),
        sufficiency(f"sufficiency-{operator}", CODE, "eraser-code", operator),
    )
)
"""Both, with words replaced or no longer attended instead of deleted."""
