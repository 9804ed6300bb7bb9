"""Checks of number formats and of cost: what a method says of itself holds, in other precisions too."""

from __future__ import annotations

import copy

import torch

from faithboard.attribution import Method
from faithboard.batch import Batch
from faithboard.classifier import Classifier, count_steps
from faithboard.conformance.check import Check, Untried, scores_of
from faithboard.errors import ContractError

_FEW = 16
"""Texts that are tried in another precision."""


def _double(method: Method, model: Classifier, batch: Batch) -> None:
    scores_of(method, copy.deepcopy(model).double(), batch.rows(slice(_FEW)))


def _half(method: Method, model: Classifier, batch: Batch) -> None:
    few = batch.rows(slice(_FEW))
    for dtype in (torch.bfloat16, torch.float16):
        half = copy.deepcopy(model).to(dtype)
        if _answers(half, few):
            scores_of(method, half, few)
            return
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
        return
    for row in {int(length): row for row, length in enumerate(batch.lengths)}.values():
        one = batch.rows([row])
        with count_steps(model) as found:
            scores_of(method, model, one)
        # The plan knows T alone; begin, end and query come on top, at most as if they were scorable too.
        t, length = int(one.scorable_lengths), int(one.lengths)
        least, most = method.steps(t), method.steps(length)
        if not (least[0] <= found.forward <= most[0] and least[1] <= found.backward <= most[1]):
            raise ContractError(
                f"example {one.example_id[0]} took {found.forward} token steps forward and {found.backward} backward; "
                f"planned are {least} for its {t} scorable tokens, and at most {most} with the {length} it has in all"
            )


LIMITS = (
    Check("double-precision", "on a model in float64 scores are finite", _double),
    Check("half-precision", "on a model in bfloat16 or float16 scores are finite", _half),
    Check("planned-cost", "token steps are those planned", _planned_cost),
)
