"""Rows to compare with: what an explanation reaches that says nothing about the model."""

from __future__ import annotations

from torch import Tensor

from faithboard import TOKEN, Batch, Classifier, Rng, method


@method(
    "random",
    kind="reference",
    signed=False,
    source="uniform scores; every metric is the mean over ten draws",
    draws=10,
    steps=lambda length: (0, 0),
)
def random(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """A uniform number per token, whatever the model says."""
    return rng.uniform(TOKEN)
