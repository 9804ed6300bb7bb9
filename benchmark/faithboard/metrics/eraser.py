"""Comprehensiveness and sufficiency (DeYoung et al. 2020, "ERASER", section 4.2), in two profiles.

p_j is the probability of the class that the model predicts on the full text; the gold label plays no part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from faithboard.metric import ErasureMetric

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


def comprehensiveness(name: str, shares: tuple[int, ...], profile: str) -> ErasureMetric:
    """Mean over the shares q of p_j(x) - p_j(x without its top ceil(q T) tokens)."""

    def masks(
        rank: Int[Tensor, "batch token"], scorable: Bool[Tensor, "batch token"]
    ) -> Bool[Tensor, "batch point token"]:
        return scorable[:, None] & (rank[:, None] < bin_sizes(scorable, shares)[:, :, None])

    return _metric(name, "higher", shares, profile, masks)


def sufficiency(name: str, shares: tuple[int, ...], profile: str) -> ErasureMetric:
    """Mean over the shares q of p_j(x) - p_j(the top ceil(q T) tokens of x alone)."""

    def masks(
        rank: Int[Tensor, "batch token"], scorable: Bool[Tensor, "batch token"]
    ) -> Bool[Tensor, "batch point token"]:
        return scorable[:, None] & (rank[:, None] >= bin_sizes(scorable, shares)[:, :, None])

    return _metric(name, "lower", shares, profile, masks)


def _metric(
    name: str, better: Literal["higher", "lower"], shares: tuple[int, ...], profile: str, masks: Masks
) -> ErasureMetric:
    return ErasureMetric(
        name=name,
        version=1,
        better=better,
        source="DeYoung et al. 2020 (ERASER), section 4.2",
        parameters={"shares": list(shares), "profile": profile, "operator": "delete"},
        points=tuple(f"{share}%" for share in shares),
        masks=masks,
        reduce=_drop_in_probability,
    )


def _drop_in_probability(
    full: Float64[Tensor, "batch"], masked: Float64[Tensor, "batch point"]
) -> Float64[Tensor, "batch point"]:
    return full[:, None] - masked


COMPREHENSIVENESS = comprehensiveness("comprehensiveness", CODE, "eraser-code")
SUFFICIENCY = sufficiency("sufficiency", CODE, "eraser-code")
COMPREHENSIVENESS_PAPER = comprehensiveness("comprehensiveness-paper", PAPER, "paper")
SUFFICIENCY_PAPER = sufficiency("sufficiency-paper", PAPER, "paper")
