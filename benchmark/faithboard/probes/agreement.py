"""Does attention order the words as gradients and leave-one-out do? (Jain & Wallace 2019, section 4.1)"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier, predicted_class, untouched
from faithboard.erasure import without_each_token
from faithboard.gradients import class_gradient
from faithboard.metric import Probe, ProbeContext
from faithboard.order import TIE
from faithboard.probes.kendall import kendall_tau
from faithboard.probes.topk import list_length, top_k_agreement

if TYPE_CHECKING:
    from jaxtyping import Float64, Int

TESTABLE = 5
"""Shortest text on which p <= 0.05 can be reached at all: the best p of four tokens is 1/12."""
PAIRS = ("attention-gradient", "attention-loo", "gradient-loo")


@dataclass(frozen=True)
class Measures:
    """Three unsigned importances of every scorable token, 0 elsewhere, and the class they speak for."""

    attention: Float64[Tensor, "batch token"]
    gradient: Float64[Tensor, "batch token"]
    """|sum_d e_td dp_j/de_td| with attention held fixed. For one sigmoid both classes give the same."""
    leave_one_out: Float64[Tensor, "batch token"]
    """Total variation distance of the output without the token."""
    predicted: Int[Tensor, "batch"]


def measures(model: Classifier, batch: Batch) -> Measures:
    """Attention, gradient and leave-one-out of every token: the vectors that the paper correlates."""
    with untouched(model), torch.no_grad():
        output = model(batch)
        embedded = model.embed(batch)
    log_p = output.log_probabilities(batch.candidates)
    predicted = predicted_class(log_p)
    gradient = class_gradient(model, batch, embedded=embedded, target=predicted, detach_attention=True)
    moved = (log_p.exp()[:, None] - without_each_token(model, batch)).abs().sum(-1) / 2

    def unsigned(values: Tensor) -> Tensor:
        return values.double().abs().masked_fill(~batch.scorable, 0.0)

    return Measures(
        attention=unsigned(output.attention),
        gradient=unsigned((embedded.double() * gradient).sum(-1)),
        leave_one_out=unsigned(moved),
        predicted=predicted,
    )


def attention_agreement(model: Classifier, batch: Batch, context: ProbeContext) -> Float64[Tensor, "batch point"]:
    """tau of each pair, p of each pair, top-k agreement of each pair, T, predicted class.

    tau is NaN where a vector is constant, to within `TIE` of its largest value, or has fewer than two tokens. p is NaN
    there and for texts of fewer than `TESTABLE` tokens, which are not testable rather than not significant.

    A probability of 0 or 1 in float32 takes nothing from the gradient, which is p_j times that of log p_j. It loses
    digits where odds against j are below e^-87, the least that float32 holds in full, and from about e^-103 on it is 0
    throughout: a constant vector, undefined.
    """
    found = measures(model, batch)
    scorable = batch.scorable.cpu().numpy()
    vectors = [_nan_where_constant(v, batch) for v in (found.attention, found.gradient, found.leave_one_out)]
    results = [kendall_tau(a, b, scorable) for a, b in combinations(vectors, 2)]
    lengths = scorable.sum(1)
    columns = [tau for tau, _ in results] + [np.where(lengths < TESTABLE, np.nan, p) for _, p in results]
    k = list_length(context.mean_length)
    columns += [top_k_agreement(a, b, scorable, k) for a, b in combinations(vectors, 2)]
    columns.append(lengths.astype(np.float64))
    columns.append(found.predicted.cpu().numpy().astype(np.float64))
    return torch.from_numpy(np.stack(columns, 1)).to(batch.device)


def _nan_where_constant(values: Float64[Tensor, "batch token"], batch: Batch) -> Float64[np.ndarray, "batch token"]:
    highest = values.amax(1, keepdim=True)
    lowest = values.masked_fill(~batch.scorable, torch.inf).amin(1, keepdim=True)
    return values.masked_fill(highest - lowest <= TIE * highest, torch.nan).cpu().numpy()


ATTENTION_AGREEMENT = Probe(
    name="attention-agreement",
    version=2,
    better="neither",
    source="Jain & Wallace 2019, section 4.1: Kendall tau-b; Fagin et al. 2003 for the top k",
    needs=frozenset({"gradients", "attention"}),
    points=(
        *(f"{kind}-{pair}" for kind in ("tau", "p", "top-k") for pair in PAIRS),
        "scorable-length",
        "predicted-class",
    ),
    probe=attention_agreement,
    # The text, its gradient, and T texts without one word each.
    steps=lambda length: (length * length + length, length),
)
