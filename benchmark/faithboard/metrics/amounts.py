"""Scores as amounts: do they sum to what they promise, and do sets of them add up to what the sets take from p_j?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from faithboard.metric import AmountMetric, Amounts

if TYPE_CHECKING:
    from jaxtyping import Float64

SUBSETS = 100


def gap(read: Amounts) -> Float64[Tensor, "batch"]:
    """|sum of the scores - the promised sum|; NaN without a promise."""
    return (read.scores.sum(1) - read.total).abs()


def infidelity(read: Amounts) -> Float64[Tensor, "batch"]:
    """min over beta >= 0 of E(beta a - d)^2 / E d^2: a the sum of the scores of a set, d what p_j loses without it.

    beta takes away the scale of the scores, not their sign: evidence for j that turns out as evidence against it is
    worth no more than no scores at all, which is 1. NaN where no set moves p_j, and for scores that are not all finite.
    """
    a = read.drop.double() @ read.scores[:, :, None]
    a, d = a[:, :, 0], read.loss
    # The parabola in beta has its minimum at E[ad] / E[a^2], or at 0 where that is negative.
    together, own, moved = (a * d).mean(1).clamp(min=0), (a * a).mean(1), (d * d).mean(1)
    gained = torch.where(own > 0, together**2 / own, 0.0)
    return torch.where((moved > 0) & read.scores.isfinite().all(1), 1 - gained / moved, torch.nan)


COMPLETENESS = AmountMetric(
    name="completeness",
    version=1,
    better="lower",
    source="Sundararajan et al. 2017, axiom of completeness: |sum of the scores - promised sum|",
    parameters={"statistic": "median"},
    score=gap,
    promised=True,
    statistic="median",
)
INFIDELITY = AmountMetric(
    name="infidelity",
    version=1,
    better="lower",
    source="Yeh et al. 2019, definition 2.1, normalised: min over beta of E(beta sum_S - (p(x) - p(x-S)))^2 / E(...)^2",
    parameters={"subsets": SUBSETS, "sizes": "uniform in 1..T", "beta": "at least 0", "operator": "delete"},
    score=infidelity,
    subsets=SUBSETS,
)
