"""The gradient of p_j in the neighbourhood of the text: its mean, mean square and variance under noise."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from faithboard import TOKEN, Batch, Classifier, Rng, class_gradients, method, predict, predicted_class

SAMPLES = 20
NOISE = 0.15
"""Standard deviation of the noise, as a share of the range of the text's embeddings."""


def each_sample_once(length: int) -> tuple[int, int]:
    """Planned token steps: the text forward for its class, then every sample forward and backward."""
    return (SAMPLES + 1) * length, SAMPLES * length


@method(
    "smoothgrad",
    kind="sensitivity",
    signed=False,
    source="Smilkov et al. 2017, section 3: L2 norm over dimensions of the mean of dp_j/de_t over 20 noisy texts",
    needs={"gradients"},
    stochastic=True,
    steps=each_sample_once,
)
def smoothgrad(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """How much the probability moves with the token's embedding, on average around the text."""
    mean = torch.zeros((), dtype=torch.float64, device=batch.device)
    for gradient in _noisy_gradients(model, batch, rng):
        mean = mean + gradient.double() / SAMPLES
    return torch.linalg.vector_norm(mean, dim=-1)


@method(
    "smoothgrad-squared",
    kind="sensitivity",
    signed=False,
    source="Hooker et al. 2019, section 3 (SG-SQ): mean over 20 noisy texts of sum_d (dp_j/de_td)^2",
    needs={"gradients"},
    stochastic=True,
    steps=each_sample_once,
)
def smoothgrad_squared(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """The mean squared length of the gradient around the text; gradients that turn do not cancel."""
    squares = [gradient.double().square().sum(-1) for gradient in _noisy_gradients(model, batch, rng)]
    return torch.stack(squares).mean(0)


@method(
    "vargrad",
    kind="sensitivity",
    signed=False,
    source="Adebayo et al. 2018, section 3 (VarGrad): sum_d of the variance of dp_j/de_td over 20 noisy texts",
    needs={"gradients"},
    stochastic=True,
    steps=each_sample_once,
)
def vargrad(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """How much the gradient turns and stretches around the text."""
    mean = torch.zeros((), dtype=torch.float64, device=batch.device)
    squares = torch.zeros(batch.ids.shape, dtype=torch.float64, device=batch.device)
    # Welford's update: the difference of two means of squares would cancel where gradients hardly vary.
    for count, gradient in enumerate(_noisy_gradients(model, batch, rng), start=1):
        off = gradient.double() - mean
        mean = mean + off / count
        squares += (off * (gradient.double() - mean)).sum(-1)
    # Of rounding, not of the data, when every sample is the same.
    return squares.clamp(min=0.0) / SAMPLES


def _noisy_gradients(model: Classifier, batch: Batch, rng: Rng) -> Iterator[Tensor]:
    """The gradient for the class of the full text at each of the noisy texts. Only scorable tokens are noisy."""
    j = predicted_class(predict(model, batch))
    with torch.no_grad():
        embedded = model.embed(batch)
    here = batch.scorable[:, :, None]
    highest = embedded.masked_fill(~here, -torch.inf).amax((1, 2), keepdim=True)
    lowest = embedded.masked_fill(~here, torch.inf).amin((1, 2), keepdim=True)
    spread = NOISE * (highest - lowest)

    def noisy() -> Iterator[Tensor]:
        for _ in range(SAMPLES):
            noise = rng.normal(TOKEN, embedded.shape[-1]).to(embedded.dtype)
            yield torch.where(here, embedded + spread * noise, embedded)

    return class_gradients(model, batch, noisy(), target=j)
