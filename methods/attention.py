"""Attention weights as an explanation."""

from __future__ import annotations

import torch
from torch import Tensor

from faithboard import Batch, Classifier, Rng, method


@method(
    "attention",
    kind="sensitivity",
    signed=False,
    source="Jain & Wallace 2019, section 2: alpha",
    needs={"attention"},
    steps=lambda length: (length, 0),
)
def attention(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """The weight that the model's own attention gives each token."""
    with torch.no_grad():
        return model(batch).attention
