"""Attention weights as an explanation, alone and together with what they weigh."""

from __future__ import annotations

import torch
from torch import Tensor

from faithboard import Batch, Classifier, Output, Rng, method, predicted_class


def once_forward(length: int) -> tuple[int, int]:
    """Planned token steps: the text once forward; nothing goes back through the encoder."""
    return length, 0


@method(
    "attention",
    kind="sensitivity",
    signed=False,
    source="Jain & Wallace 2019, section 2: alpha",
    needs={"attention"},
    steps=once_forward,
)
def attention(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """The weight that the model's own attention gives each token."""
    with torch.no_grad():
        return model(batch).attention


@method(
    "attention-gradient",
    kind="contribution",
    signed=True,
    source="Serrano & Smith 2019, section 3: alpha_t dp_j/dalpha_t with the states h held fixed",
    needs={"attention", "decode", "gradients"},
    steps=once_forward,
)
def attention_gradient(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """What the weight of the token adds to the probability, were the model linear in its weights.

    Weights are free here: their sum need not stay 1. As everywhere, dp_j is taken as p_j d log p_j.
    """
    alpha, hidden, query = _states(model, batch)
    with torch.enable_grad():
        weights = alpha.detach().requires_grad_()
        log_p = Output(model.decode(hidden, weights, batch, query)).log_probabilities(batch.candidates)
        log_p_j = log_p.gather(1, predicted_class(log_p)[:, None])
        (gradient,) = torch.autograd.grad(log_p_j.sum(), weights)
    return alpha.double() * gradient * log_p_j.detach().exp()


@method(
    "attention-norm",
    kind="sensitivity",
    signed=False,
    source="Kobayashi et al. 2020, section 3: alpha_t |h_t|, the length of what the token adds to the context",
    needs={"attention", "decode"},
    steps=once_forward,
)
def attention_norm(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """How much of the context vector is the token's weighted state."""
    alpha, hidden, _ = _states(model, batch)
    return alpha.double() * torch.linalg.vector_norm(hidden, dim=-1, dtype=torch.float64)


def _states(model: Classifier, batch: Batch) -> tuple[Tensor, Tensor, Tensor | None]:
    """Attention, the states it weighs and the query's summary. A model that decodes gives both of the first two."""
    with torch.no_grad():
        output = model(batch)
    if output.attention is None or output.hidden is None:
        raise ValueError(f"{type(model).__name__} says it can decode, but gives no attention or no states with it")
    return output.attention, output.hidden, output.query
