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


def mean_rank(
    rank: Int[Tensor, "batch token"], marked: Bool[Tensor, "batch token"], scorable: Bool[Tensor, "batch token"]
) -> Float64[Tensor, "batch"]:
    """Mean rank of the marked tokens, 0 where they come first and 1 where they come last.

    Of k marked among T tokens the mean rank, counted from 0, lies between (k - 1)/2 and T - (k + 1)/2. Scaled, it is
    one less the area under the ROC curve. NaN where nothing or everything is marked.
    """
    marked = marked & scorable
    k, others = marked.sum(1).double(), (scorable & ~marked).sum(1)
    mean = (rank * marked).sum(1) / k
    return ((mean - (k - 1) / 2) / others).where((k > 0) & (others > 0), torch.nan)


def random_mean_rank(
    marked: Bool[Tensor, "batch token"], scorable: Bool[Tensor, "batch token"]
) -> Float64[Tensor, "batch"]:
    """A half, as every order is as likely as its reverse; NaN where nothing or everything is marked."""
    half = torch.full(marked.shape[:1], 0.5, dtype=torch.float64, device=marked.device)
    return half.where((marked & scorable).any(1) & (scorable & ~marked).any(1), torch.nan)


PRECISION_AT_K = RationaleMetric(
    name="precision@k",
    version=1,
    better="higher",
    source="R-precision: precision among the first k, k the number of marked tokens",
    score=precision_at_k,
    expectation=random_precision,
)
MEAN_RANK = RationaleMetric(
    name="mean-rank",
    version=1,
    better="lower",
    source="mean rank of the marked tokens in [0, 1]; 1 - area under the ROC curve (Mann & Whitney 1947)",
    of=frozenset({"planted"}),
    score=mean_rank,
    expectation=random_mean_rank,
)
