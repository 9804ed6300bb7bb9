"""Erasure read off the model's answer instead of its probability: accuracy that is lost, decisions that flip."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from faithboard.metric import Erased, ErasureMetric
from faithboard.metrics.eraser import bin_sizes

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int

REMOVED = tuple(range(0, 100, 10))
"""Per cent of the text removed for `removal-accuracy-auc`."""
EVERY_PREFIX = 50
"""Up to so many tokens every prefix of the order is asked for `decision-flip-share`; of longer texts as many prefixes,
of ceil(i T / 50) tokens."""


def top_shares(
    rank: Int[Tensor, "batch token"], scorable: Bool[Tensor, "batch token"]
) -> Bool[Tensor, "batch mask token"]:
    """The top ceil(q T) tokens for q = 0, 10 .. 90 %."""
    return scorable[:, None] & (rank[:, None] < bin_sizes(scorable, REMOVED)[:, :, None])


def area(points: Float64[Tensor, "batch point"]) -> Float64[Tensor, "batch"]:
    """Area under the curve by the trapezoid rule, over the width: the mean height."""
    return (points[:, 1:] + points[:, :-1]).mean(1) / 2


def prefix_sizes(scorable: Bool[Tensor, "batch token"]) -> Int[Tensor, "batch mask"]:
    """Sizes of the prefixes that are asked, ascending to T; a text with fewer than another repeats its last, T."""
    length = scorable.sum(1, keepdim=True)
    count = min(EVERY_PREFIX, int(length.max())) if len(length) else 0
    step = torch.arange(1, count + 1, device=scorable.device)
    # Where every prefix is asked the sizes are 1, 2 .. T.
    return torch.where(length > EVERY_PREFIX, (step * length + EVERY_PREFIX - 1) // EVERY_PREFIX, step.minimum(length))


def _prefixes(
    rank: Int[Tensor, "batch token"], scorable: Bool[Tensor, "batch token"]
) -> Bool[Tensor, "batch mask token"]:
    return scorable[:, None] & (rank[:, None] < prefix_sizes(scorable)[:, :, None])


def _first(rank: Int[Tensor, "batch token"], scorable: Bool[Tensor, "batch token"]) -> Bool[Tensor, "batch mask token"]:
    return (scorable & (rank == 0))[:, None]


def _share_until_flip(read: Erased) -> Float64[Tensor, "batch point"]:
    """Share of the tokens removed where the decision is first another one; 1.0 where it never is."""
    flipped = read.masked == 0
    size = prefix_sizes(read.scorable).gather(1, flipped.int().argmax(1, keepdim=True))
    share = size.double() / read.scorable.sum(1, keepdim=True)
    return share.where(flipped.any(1, keepdim=True), 1.0)


REMOVAL_ACCURACY = ErasureMetric(
    name="removal-accuracy-auc",
    version=1,
    better="lower",
    source="Ismail et al. 2021, section 4.1: accuracy when the tokens of highest score are removed",
    parameters={"shares": list(REMOVED), "operator": "delete"},
    points=tuple(f"{share}%" for share in REMOVED),
    masks=top_shares,
    reduce=lambda read: read.masked,
    value=area,
    reads="label",
)
FLIP_TOP1 = ErasureMetric(
    name="decision-flip-top1",
    version=1,
    better="higher",
    source="Serrano & Smith 2019, section 4: does removing the first token change the decision",
    parameters={"operator": "delete"},
    masks=_first,
    reduce=lambda read: 1 - read.masked,
    reads="decision",
    asks=lambda length: 1,
)
FLIP_SHARE = ErasureMetric(
    name="decision-flip-share",
    version=1,
    better="lower",
    source="Serrano & Smith 2019, section 5: share of tokens removed, in order, until the decision changes",
    parameters={"operator": "delete", "every-prefix-up-to": EVERY_PREFIX},
    masks=_prefixes,
    reduce=_share_until_flip,
    reads="decision",
    asks=lambda length: min(length, EVERY_PREFIX),
    gridded=EVERY_PREFIX,
)
