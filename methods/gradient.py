"""Methods that read one gradient of p_j, the probability of the predicted class, at the embedded text."""

from __future__ import annotations

import torch
from torch import Tensor

from faithboard import Batch, Classifier, Rng, class_gradient, method


def one_pass(length: int) -> tuple[int, int]:
    """Planned token steps: the text once forward and once backward."""
    return length, length


@method(
    "gradient-l2",
    kind="sensitivity",
    signed=False,
    source="Simonyan et al. 2014; Li et al. 2016: L2 norm over dimensions of dp_j/de_t",
    needs={"gradients"},
    steps=one_pass,
)
def gradient_l2(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """How much the probability moves with the token's embedding, in any direction."""
    # In float64: the squares of a sure model's small gradients vanish in float32.
    return torch.linalg.vector_norm(class_gradient(model, batch), dim=-1, dtype=torch.float64)


@method(
    "gradient-x-input",
    kind="contribution",
    signed=True,
    source="Denil et al. 2014; Shrikumar et al. 2016: sum_d e_td dp_j/de_td",
    needs={"gradients"},
    steps=one_pass,
)
def gradient_x_input(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """What the token adds to the probability, were the model linear."""
    return _dot_input(model, batch)


@method(
    "gradient-x-input-fixed-attention",
    kind="sensitivity",
    signed=False,
    source="Jain & Wallace 2019, section 4.1: |sum_d e_td dp_j/de_td| with attention held fixed, summing to 1",
    needs={"gradients", "attention"},
    steps=one_pass,
)
def gradient_x_input_fixed_attention(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """The share of each token in gradient x input past the attention weights."""
    scores = _dot_input(model, batch, detach_attention=True).abs().masked_fill(~batch.scorable, 0.0)
    total = scores.sum(1, keepdim=True)
    # A text whose gradient is 0 everywhere keeps its zeros.
    return scores / total.where(total > 0, 1.0)


def _dot_input(model: Classifier, batch: Batch, detach_attention: bool = False) -> Tensor:
    with torch.no_grad():
        embedded = model.embed(batch)
    gradient = class_gradient(model, batch, embedded=embedded, detach_attention=detach_attention)
    return (embedded.double() * gradient).sum(-1)
