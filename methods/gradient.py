"""Methods that read one gradient at the embedded text: of p_j, the probability of the predicted class, or of its logit.

The variants on the logit are for more than two classes: with two, the logit's gradient is that of p_j up to one factor
per text, and ranks alike.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from faithboard import Batch, Classifier, Rng, class_gradients, method

Of = Literal["probability", "logit"]


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
    return _norm(model, batch, 2)


@method(
    "gradient-l1",
    kind="sensitivity",
    signed=False,
    source="Simonyan et al. 2014; Li et al. 2016: L1 norm over dimensions of dp_j/de_t",
    needs={"gradients"},
    steps=one_pass,
)
def gradient_l1(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """How much the probability moves with the token's embedding, every dimension by itself."""
    return _norm(model, batch, 1)


@method(
    "gradient-l2-logit",
    kind="sensitivity",
    signed=False,
    source="Simonyan et al. 2014: L2 norm over dimensions of dz_j/de_t, z_j the logit of j",
    needs={"gradients", "several-classes"},
    steps=one_pass,
)
def gradient_l2_logit(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """How much the logit moves with the token's embedding, in any direction."""
    return _norm(model, batch, 2, of="logit")


@method(
    "gradient-l1-logit",
    kind="sensitivity",
    signed=False,
    source="Simonyan et al. 2014: L1 norm over dimensions of dz_j/de_t, z_j the logit of j",
    needs={"gradients", "several-classes"},
    steps=one_pass,
)
def gradient_l1_logit(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """How much the logit moves with the token's embedding, every dimension by itself."""
    return _norm(model, batch, 1, of="logit")


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
    "gradient-x-input-logit",
    kind="contribution",
    signed=True,
    source="Denil et al. 2014; Shrikumar et al. 2016: sum_d e_td dz_j/de_td, z_j the logit of j",
    needs={"gradients", "several-classes"},
    steps=one_pass,
)
def gradient_x_input_logit(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """What the token adds to the logit, were the model linear."""
    return _dot_input(model, batch, of="logit")


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


def _norm(model: Classifier, batch: Batch, order: int, of: Of = "probability") -> Tensor:
    _, gradient = _gradient(model, batch, of=of)
    # In float64: the squares of a sure model's small gradients vanish in float32.
    return torch.linalg.vector_norm(gradient, order, dim=-1, dtype=torch.float64)


def _dot_input(model: Classifier, batch: Batch, *, detach_attention: bool = False, of: Of = "probability") -> Tensor:
    embedded, gradient = _gradient(model, batch, detach_attention=detach_attention, of=of)
    return (embedded.double() * gradient).sum(-1)


def _gradient(
    model: Classifier, batch: Batch, *, detach_attention: bool = False, of: Of = "probability"
) -> tuple[Tensor, Tensor]:
    """Embeddings, and the gradient at them."""
    with torch.no_grad():
        embedded = model.embed(batch)
    (gradient,) = class_gradients(model, batch, [embedded], detach_attention=detach_attention, of=of)
    return embedded, gradient
