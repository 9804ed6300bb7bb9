"""Integrated gradients: the gradient of p_j collected on the straight way from a baseline to the text."""

from __future__ import annotations

import torch
from torch import Tensor

from faithboard import Attribution, Batch, Classifier, Output, Rng, class_gradients, method, predicted_class

STEPS = 50
"""Points of the Gauss-Legendre rule."""
SOURCE = "Sundararajan et al. 2017, equation 1: sum_d (e_td - b_td) int_0^1 dp_j/de_td at b + u (e - b) du"


def each_step_once(length: int) -> tuple[int, int]:
    """Planned token steps: the text and the baseline forward, then every step forward and backward."""
    return (STEPS + 2) * length, STEPS * length


@method(
    "integrated-gradients",
    kind="contribution",
    signed=True,
    source=f"{SOURCE}, {STEPS} Gauss-Legendre steps; b = 0 at scorable tokens",
    needs={"gradients"},
    steps=each_step_once,
)
def integrated_gradients(model: Classifier, batch: Batch, rng: Rng) -> Attribution:
    """What the token adds to the probability on the way from zero vectors to the text."""
    return _from_zero(model, batch)


@method(
    "integrated-gradients-pad",
    kind="contribution",
    signed=True,
    source=f"{SOURCE}, {STEPS} Gauss-Legendre steps; b = the embedding of <pad> at scorable tokens",
    needs={"gradients"},
    steps=each_step_once,
)
def integrated_gradients_pad(model: Classifier, batch: Batch, rng: Rng) -> Attribution:
    """What the token adds to the probability on the way from padding to the text."""
    return _from_word(model, batch, batch.specials.pad)


@method(
    "integrated-gradients-unk",
    kind="contribution",
    signed=True,
    source=f"{SOURCE}, {STEPS} Gauss-Legendre steps; b = the embedding of <unk> at scorable tokens",
    needs={"gradients"},
    steps=each_step_once,
)
def integrated_gradients_unk(model: Classifier, batch: Batch, rng: Rng) -> Attribution:
    """What the token adds to the probability on the way from unknown words to the text. A word that is one has 0."""
    return _from_word(model, batch, batch.specials.unk)


def _from_zero(model: Classifier, batch: Batch) -> Attribution:
    with torch.no_grad():
        embedded = model.embed(batch)
    return _integrated(model, batch, embedded, embedded.masked_fill(batch.scorable[:, :, None], 0.0))


def _from_word(model: Classifier, batch: Batch, word: int) -> Attribution:
    with torch.no_grad():
        embedded, other = model.embed(batch), model.embed(batch.replaced(batch.scorable, word))
    return _integrated(model, batch, embedded, torch.where(batch.scorable[:, :, None], other, embedded))


def _integrated(model: Classifier, batch: Batch, embedded: Tensor, baseline: Tensor) -> Attribution:
    """Scores from `baseline` to `embedded`, and p_j(embedded) - p_j(baseline), which they sum to up to the rule."""
    p = _probabilities(model, batch, embedded)
    j = predicted_class(p)
    way = embedded - baseline
    nodes, weights = _gauss_legendre(STEPS)
    points = (baseline + u * way for u in nodes)
    scores = torch.zeros(batch.ids.shape, dtype=torch.float64, device=batch.device)
    for weight, gradient in zip(weights, class_gradients(model, batch, points, target=j), strict=True):
        scores += weight * (way.double() * gradient).sum(-1)
    change = p - _probabilities(model, batch, baseline)
    return Attribution(scores, change.gather(1, j[:, None])[:, 0])


@torch.no_grad()
def _probabilities(model: Classifier, batch: Batch, embedded: Tensor) -> Tensor:
    output: Output = model(batch, embedded=embedded)
    return output.log_probabilities(batch.candidates).exp()


def _gauss_legendre(steps: int) -> tuple[list[float], list[float]]:
    """Nodes and weights on [0, 1], from the Jacobi matrix of the Legendre polynomials (Golub & Welsch 1969)."""
    k = torch.arange(1, steps, dtype=torch.float64)
    beside = k / (4 * k**2 - 1).sqrt()
    nodes, vectors = torch.linalg.eigh(beside.diag(1) + beside.diag(-1))
    return ((nodes + 1) / 2).tolist(), (vectors[0] ** 2).tolist()
