"""Checks of number formats and of cost: what a method says of itself holds, in other precisions too."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from faithboard.attribution import Method
from faithboard.batch import Batch
from faithboard.classifier import Classifier, count_steps
from faithboard.conformance.check import Check, Untried, scores_of
from faithboard.errors import ContractError

if TYPE_CHECKING:
    from jaxtyping import Float

_FEW = 16
"""Texts that are tried in another precision."""
_CLOSE = 0.1
"""Share by which token steps may differ from those planned: what a method draws decides how many texts it asks for."""


def _double(method: Method, model: Classifier, batch: Batch) -> None:
    scores_of(method, copy.deepcopy(model).double(), batch.rows(slice(_FEW)))


def _half(method: Method, model: Classifier, batch: Batch) -> None:
    few = batch.rows(slice(_FEW))
    halves = [copy.deepcopy(model).to(dtype) for dtype in (torch.bfloat16, torch.float16)]
    answering = [half for half in halves if _answers(half, few)]
    for half in answering:
        scores_of(method, half, few)
    if not answering:
        raise Untried("the model itself gives no finite answer in half precision on this device")


def _answers(model: Classifier, batch: Batch) -> bool:
    """Whether the model works at all in its precision."""
    try:
        with torch.no_grad():
            return bool(torch.isfinite(model(batch).logits).all())
    except RuntimeError:
        return False


def _planned_cost(method: Method, model: Classifier, batch: Batch) -> None:
    if method.steps is None:
        raise Untried("no steps given")
    total = torch.zeros(2, 2, dtype=torch.float64)
    for row in {int(length): row for row, length in enumerate(batch.lengths)}.values():
        one = _words_alone(batch.rows([row]))
        with count_steps(model) as found:
            scores_of(method, model, one)
        steps = torch.tensor([[found.forward, found.backward], method.steps(int(one.scorable_lengths))])
        total += steps
        # What a stochastic method takes for one text varies by chance, and the plan is its expectation.
        if not method.stochastic:
            _as_planned(steps, f"example {one.example_id[0]}, {int(one.scorable_lengths)} words alone,")
    _as_planned(total, "texts of every length, words alone, together")


def _as_planned(steps: Float[Tensor, "found-or-planned direction"], what: str) -> None:
    """Raise ContractError when steps found and planned differ."""
    (forward, backward), planned = steps.tolist()
    if any(abs(a - b) > _CLOSE * b for a, b in zip((forward, backward), planned, strict=True)):
        raise ContractError(
            f"{what} took {forward:,.0f} token steps forward and {backward:,.0f} backward; planned are "
            f"{planned[0]:,.0f} and {planned[1]:,.0f}"
        )


def _words_alone(one: Batch) -> Batch:
    """A single text without begin, end and query: a plan knows its scorable tokens alone."""
    at = one.scorable
    return replace(
        one,
        ids=one.ids[at][None],
        segment=one.segment[at][None],
        real=one.real[at][None],
        scorable=one.scorable[at][None],
    )


LIMITS = (
    Check("double-precision", "on a model in float64 scores are finite", _double),
    Check("half-precision", "on a model in bfloat16 and in float16 scores are finite", _half),
    Check("planned-cost", "token steps are those planned", _planned_cost),
)
