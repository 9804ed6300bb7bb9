"""A ceiling to compare with: the order that erasing words one after the other finds by asking the model each time."""

from __future__ import annotations

import torch
from torch import Tensor

from faithboard import Batch, Classifier, Rng, method, predict, predicted_class, without_each_token

_TIED = 1e-5
"""Log-odds apart that count as equal: rounding must not decide between words without which the model says the same."""


def each_of_those_left(length: int) -> tuple[float, float]:
    """Planned token steps: the full text, then m texts of m - 1 tokens for m = T, T - 1 .. 2 words that are left."""
    return length + (length**3 - length) // 3, 0


@method(
    "greedy-erasure",
    kind="reference",
    signed=False,
    source="Feng et al. 2018, in the opposite order; delete the word without which p_j is lowest, and again",
    steps=each_of_those_left,
)
def greedy_erasure(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """1 for the word deleted first, then in equal steps down to 1/T; of words that tie the first in the text."""
    j = predicted_class(predict(model, batch))
    words = batch.scorable_lengths
    left = batch.scorable.clone()
    scores = torch.zeros(batch.ids.shape, dtype=torch.float64, device=batch.device)
    for step in range(int(words.max()) if len(batch) else 0):
        running = (words > step).nonzero()[:, 0]
        odds = _log_odds_without(model, batch, left, j, running)
        lowest = odds.amin(1, keepdim=True)
        chosen = (odds <= lowest + _TIED).to(torch.uint8).argmax(1)
        scores[running, chosen] = (words[running] - step).double() / words[running]
        left[running, chosen] = False
    return scores


def _log_odds_without(model: Classifier, batch: Batch, left: Tensor, j: Tensor, running: Tensor) -> Tensor:
    """Log-odds of class j `[running, token]` without the words that are gone and one that is left; inf elsewhere."""
    odds = torch.full((len(running), batch.ids.shape[1]), torch.inf, dtype=torch.float64, device=batch.device)
    # A text with one word left needs no model to know which goes next.
    several = left[running].sum(1) > 1
    odds[left[running] & ~several[:, None]] = 0.0
    rows = running[several]
    if len(rows) > 0:
        texts = batch.rows(rows)
        staying = left[rows]
        rest = texts.without((batch.scorable[rows] & ~staying)[:, : texts.ids.shape[1]])
        p = without_each_token(model, rest)
        p_j = p.gather(2, j[rows][:, None, None].expand(-1, p.shape[1], -1))[:, :, 0]
        found = odds[several]
        # Words keep their order, so those left in the batch and in the rest are the same ones in turn.
        found[staying] = torch.logit(p_j[rest.scorable], eps=1e-15)
        odds[several] = found
    return odds
