"""Expected gradients: integrated gradients over drawn baselines and drawn points on the way, one gradient for each."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from faithboard import TOKEN, Background, Batch, Classifier, Rng, class_gradients, method, predict, predicted_class

DRAWS = 20
NOISE = 0.09
"""Standard deviation of the noise, as a share of the range of the text's embeddings."""


def each_draw_once(length: int) -> tuple[int, int]:
    """Planned token steps: the text forward for its class, then every draw forward and backward."""
    return (DRAWS + 1) * length, DRAWS * length


@method(
    "gradient-shap",
    kind="contribution",
    signed=True,
    source="Lundberg & Lee 2017 (GradientExplainer); Erion et al. 2021, equation 3: mean of (e' - b) dp_j/de at "
    "b + u (e' - b), e' the noisy text, b words of the training texts, u uniform",
    needs={"gradients", "background"},
    stochastic=True,
    steps=each_draw_once,
)
def gradient_shap(model: Classifier, batch: Batch, rng: Rng, background: Background) -> Tensor:
    """What the token adds to the probability on the way from words as they stand in the training texts."""
    j = predicted_class(predict(model, batch))
    with torch.no_grad():
        embedded = model.embed(batch)
    here = batch.scorable[:, :, None]
    highest = embedded.masked_fill(~here, -torch.inf).amax((1, 2), keepdim=True)
    lowest = embedded.masked_fill(~here, torch.inf).amin((1, 2), keepdim=True)
    spread = NOISE * (highest - lowest)
    ways: list[Tensor] = []

    def points() -> Iterator[Tensor]:
        for _ in range(DRAWS):
            words = background.drawn(rng)
            with torch.no_grad():
                other = model.embed(batch.replaced(batch.scorable, words))
            noise = rng.normal(TOKEN, embedded.shape[-1]).to(embedded.dtype)
            u = rng.uniform(1, 1).to(embedded.dtype)
            way = embedded + spread * noise - other
            # Kept until its gradient comes: several draws share a pass.
            ways.append(way)
            yield torch.where(here, other + u * way, embedded)

    scores = torch.zeros(batch.ids.shape, dtype=torch.float64, device=batch.device)
    for gradient in class_gradients(model, batch, points(), target=j):
        scores += (ways.pop(0).double() * gradient).sum(-1) / DRAWS
    return scores
