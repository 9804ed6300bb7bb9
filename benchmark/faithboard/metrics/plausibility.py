"""How well scores agree with what people marked (DeYoung et al. 2020, "ERASER", section 4.1): not faithfulness.

Order and ties are the suite's. Examples in which nothing is marked are left out for every method alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from faithboard.metric import RationaleMetric

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int

PEOPLE = frozenset({"human", "supporting-facts"})
PER_MILLION = 1_000_000
"""Shares are rounded to this: ceil(share T) is then exact, in whole numbers."""


def average_precision(
    rank: Int[Tensor, "batch token"], marked: Bool[Tensor, "batch token"], scorable: Bool[Tensor, "batch token"]
) -> Float64[Tensor, "batch"]:
    """Area under the precision-recall curve as a step function: mean over the marked tokens of the precision there.

    NaN for a text in which nothing is marked.
    """
    marked = marked & scorable
    order = rank.argsort(dim=1)
    hit = marked.gather(1, order).double()
    precision = hit.cumsum(1) / torch.arange(1, rank.shape[1] + 1, device=rank.device)
    return (precision * hit).sum(1) / hit.sum(1)


def random_average_precision(
    marked: Bool[Tensor, "batch token"], scorable: Bool[Tensor, "batch token"]
) -> Float64[Tensor, "batch"]:
    """Average precision of a random order in expectation: (H_T + (T - H_T) (k - 1) / (T - 1)) / T.

    At place i a token is marked with probability k/T, and then so is each before it with (k - 1)/(T - 1); H_T is the
    T-th harmonic number. NaN where nothing is marked.
    """
    k, length = (marked & scorable).sum(1).double(), scorable.sum(1)
    harmonic = (1 / torch.arange(1, scorable.shape[1] + 1, device=scorable.device).double()).cumsum(0)
    h = harmonic[(length - 1).clamp(min=0)]
    others = torch.where(length > 1, (k - 1) / (length - 1).clamp(min=1), 0.0)
    return ((h + (length - h) * others) / length).where(k > 0, torch.nan)


def chosen_tokens(
    rank: Int[Tensor, "batch token"], scorable: Bool[Tensor, "batch token"], share: float
) -> Bool[Tensor, "batch token"]:
    """The predicted rationale: the top ceil(share T) tokens."""
    return scorable & (rank < predicted_length(scorable, share)[:, None])


def predicted_length(scorable: Bool[Tensor, "batch token"], share: float) -> Int[Tensor, "batch"]:
    """ceil(share T), the share in millionths."""
    return -(-scorable.sum(1) * round(share * PER_MILLION) // PER_MILLION)


def token_f1(
    rank: Int[Tensor, "batch token"],
    marked: Bool[Tensor, "batch token"],
    scorable: Bool[Tensor, "batch token"],
    share: float,
) -> Float64[Tensor, "batch"]:
    """F1 of the tokens of the predicted rationale against the marked ones; NaN where nothing is marked."""
    marked = marked & scorable
    predicted = chosen_tokens(rank, scorable, share)
    return _f1((predicted & marked).sum(1), predicted.sum(1), marked.sum(1))


def random_token_f1(
    marked: Bool[Tensor, "batch token"], scorable: Bool[Tensor, "batch token"], share: float
) -> Float64[Tensor, "batch"]:
    """Token F1 of a random order in expectation: of n predicted tokens n k/T are marked. NaN where nothing is."""
    k, n = (marked & scorable).sum(1), predicted_length(scorable, share)
    return _f1(n * k / scorable.sum(1).double(), n, k)


def iou_f1(
    rank: Int[Tensor, "batch token"],
    marked: Bool[Tensor, "batch token"],
    scorable: Bool[Tensor, "batch token"],
    share: float,
) -> Float64[Tensor, "batch"]:
    """F1 of runs: one of predicted tokens is right where its overlap with a run of marked ones is half their union.

    Runs are of neighbours in the text; one of the text and one of the query never touch. No run can share half a union
    with two others, so right runs of both sides pair off. NaN where nothing is marked.
    """
    marked = marked & scorable
    predicted = chosen_tokens(rank, scorable, share)
    (own, own_runs), (theirs, their_runs) = _runs(predicted), _runs(marked)
    width = rank.shape[1] + 1
    row = torch.arange(len(rank), device=rank.device)[:, None] * width
    own_size = torch.bincount((row + own)[predicted], minlength=len(rank) * width)
    their_size = torch.bincount((row + theirs)[marked], minlength=len(rank) * width)
    both = predicted & marked
    pairs, overlap = torch.stack([(row + own)[both], (row + theirs)[both]]).unique(dim=1, return_counts=True)
    union = own_size[pairs[0]] + their_size[pairs[1]] - overlap
    right = pairs[0][2 * overlap >= union] // width
    return _f1(torch.bincount(right, minlength=len(rank)), own_runs, their_runs)


def _runs(flags: Bool[Tensor, "batch token"]) -> tuple[Int[Tensor, "batch token"], Int[Tensor, "batch"]]:
    """Number of the run that a token belongs to (from 1; any number where there is none), and runs of each text."""
    starts = flags & ~torch.nn.functional.pad(flags, (1, 0))[:, :-1]
    return starts.cumsum(1), starts.sum(1)


def _f1(hits: Tensor, predicted: Tensor, marked: Tensor) -> Float64[Tensor, "batch"]:
    """2 hits / (predicted + marked): F1 where hits count for precision and recall alike. NaN where marked is 0."""
    return (2 * hits.double() / (predicted + marked)).where(marked > 0, torch.nan)


AUPRC = RationaleMetric(
    name="auprc",
    version=1,
    better="higher",
    source="DeYoung et al. 2020 (ERASER), section 4.1, as average precision",
    of=PEOPLE,
    score=average_precision,
    expectation=random_average_precision,
)
TOKEN_F1 = RationaleMetric(
    name="token-f1",
    version=1,
    better="higher",
    source="DeYoung et al. 2020 (ERASER), section 4.1",
    parameters={"length": "average rationale share of the dev split"},
    of=PEOPLE,
    score=token_f1,
    expectation=random_token_f1,
    needs_share=True,
)
IOU_F1 = RationaleMetric(
    name="iou-f1",
    version=1,
    better="higher",
    source="DeYoung et al. 2020 (ERASER), section 4.1; intersection over union of at least 0.5",
    parameters={"length": "average rationale share of the dev split", "least_iou": 0.5},
    of=PEOPLE,
    score=iou_f1,
    needs_share=True,
)
