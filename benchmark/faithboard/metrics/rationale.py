"""Scores against tokens marked in the data: planted ones (known truth) or those a person marked (plausibility)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from faithboard.metric import RationaleMetric

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int


def precision_at_k(
    rank: Int[Tensor, "batch token"], marked: Bool[Tensor, "batch token"], scorable: Bool[Tensor, "batch token"]
) -> Float64[Tensor, "batch"]:
    """Share of the k highest-ranked tokens that are marked, k being the number marked in the text.

    NaN for a text in which nothing is marked. Marks outside the scorable tokens do not count.
    """
    marked = marked & scorable
    k = marked.sum(1)
    hits = (marked & (rank < k[:, None])).sum(1)
    return (hits / k.double()).where(k > 0, torch.nan)


def random_precision(marked: Bool[Tensor, "batch token"], scorable: Bool[Tensor, "batch token"]) -> Tensor:
    """k/T: the precision of a random order in expectation; NaN where nothing is marked. Shape [batch], float64."""
    k = (marked & scorable).sum(1)
    return (k / scorable.sum(1).double()).where(k > 0, torch.nan)


PRECISION_AT_K = RationaleMetric(
    name="precision@k",
    version=1,
    better="higher",
    source="R-precision: precision among the first k, k the number of marked tokens",
    score=precision_at_k,
    expectation=random_precision,
)
