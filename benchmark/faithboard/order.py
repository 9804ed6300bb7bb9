"""The order of tokens that every ranking metric shares: highest score first, ties broken alike for all methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from faithboard.batch import Batch

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int

TIE = 1e-6
"""Scores this close, as a share of the example's largest absolute score, are equal."""


def ranks(
    scores: Float[Tensor, "batch token"], batch: Batch, permutation: Int[Tensor, "batch token"]
) -> Int[Tensor, "batch token"]:
    """Rank of each scorable token, 0 for the highest score as given (never its absolute value); T and more elsewhere.

    Tied tokens stand in the order of `permutation` (`Rng.permutation`: positions in random order), which is one per
    example and the same for every method. Scores sorted by value form a group as long as each is within `TIE` of its
    neighbour, so being tied carries over from one to the next. That needs no grid, whose lines would part near
    neighbours, and no first member, on which the rest would depend.
    """
    group, order = _groups(scores, batch)
    width = scores.shape[1]
    place = _inverse(permutation)
    key = group * width + place.gather(1, order)
    return _inverse(order.gather(1, key.argsort(dim=1)))


def unordered(scores: Float[Tensor, "batch token"], batch: Batch) -> Bool[Tensor, "batch"]:
    """Examples that give no order: a score that is not finite, or all of two or more scores tied."""
    group, _ = _groups(scores, batch)
    several = batch.scorable_lengths > 1
    last = (batch.scorable_lengths - 1).clamp(min=0)
    constant = several & (group.gather(1, last[:, None])[:, 0] == 0)
    return constant | ~(torch.isfinite(scores) | ~batch.scorable).all(1)


def _groups(
    scores: Float[Tensor, "batch token"], batch: Batch
) -> tuple[Int[Tensor, "batch place"], Int[Tensor, "batch place"]]:
    """Number of the tie group at each place of the descending order, and the token that stands there."""
    exact = scores.double()
    tolerance = TIE * exact.abs().masked_fill(~batch.scorable, 0.0).amax(1, keepdim=True)
    value, order = exact.masked_fill(~batch.scorable, -torch.inf).sort(dim=1, descending=True)
    # Past the last scorable token the gap is -inf - -inf = NaN, which opens no group.
    opens = value[:, :-1] - value[:, 1:] > tolerance
    return torch.nn.functional.pad(opens.cumsum(1), (1, 0)), order


def _inverse(permutation: Int[Tensor, "batch token"]) -> Int[Tensor, "batch token"]:
    positions = torch.arange(permutation.shape[1], device=permutation.device).expand_as(permutation)
    return torch.empty_like(permutation).scatter_(1, permutation, positions)
