"""What a check of a model is, and how it compares answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier, Output, untouched
from faithboard.conformance.check import tolerance
from faithboard.errors import ContractError

if TYPE_CHECKING:
    from jaxtyping import Float


_LEAST = 0.1
"""Answers below this are compared as if they were this large: where much cancels out, its rounding is what is left."""


@dataclass(frozen=True)
class ModelCheck:
    """One rule of the contract and the function that tries a model against it."""

    name: str
    rule: str
    run: Callable[[Classifier, Batch], None]
    """Raises ContractError where the model breaks the rule, and `Untried` where that cannot be told."""


def answer(model: Classifier, batch: Batch) -> Output:
    """One pass in eval mode, without gradients."""
    with untouched(model), torch.no_grad():
        return model(batch)


def logits_of(model: Classifier, batch: Batch) -> Float[Tensor, "batch output"]:
    """The logits of one pass. Raises ContractError when they are no tensor."""
    logits = answer(model, batch).logits
    if not isinstance(logits, Tensor):
        raise ContractError(f"Output.logits is a {type(logits).__name__}, not a tensor")
    return logits


def compare(found: Tensor, expected: Tensor, batch: Batch, what: str) -> None:
    """Raise ContractError when rows of `found` differ from those of `expected` by more than the tolerance."""
    if found.shape != expected.shape:
        raise ContractError(f"{what}: the shape is {tuple(found.shape)} instead of {tuple(expected.shape)}")
    scale = max(float(expected.abs().max()), _LEAST)
    off = (found - expected).abs().flatten(1).amax(1) / scale
    # NaN compares as no difference at all.
    if not bool((off <= tolerance(batch)).all()):
        row = int(off.nan_to_num(torch.inf).argmax())
        raise ContractError(
            f"{what}: example {batch.example_id[row]} has {_few(found[row])} instead of {_few(expected[row])}"
        )


def _few(values: Tensor) -> str:
    shown = ", ".join(f"{value:.6g}" for value in values.flatten()[:4].tolist())
    return f"({shown}{', ...' if values.numel() > 4 else ''})"
