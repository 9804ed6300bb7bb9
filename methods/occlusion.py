"""Put something else in the place of words and see how much the predicted class loses."""

from __future__ import annotations

import torch
from torch import Tensor

from faithboard import Batch, Classifier, Rng, evaluate_masks, method, predict, predicted_class

WINDOW = 3
_MASKED = 2**24
"""Positions of masks that are built at once: those of long texts are the square of the length."""


def each_once(length: int) -> tuple[int, int]:
    """Planned token steps: the full text, then T texts of T tokens."""
    return length + length * length, 0


def each_window(length: int) -> tuple[int, int]:
    """Planned token steps: the full text, then a text of T tokens for each window."""
    return length + max(length - WINDOW + 1, 1) * length, 0


@method(
    "occlusion-unk",
    kind="contribution",
    signed=True,
    source="Zeiler & Fergus 2014, section 4.2; p_j(x) - p_j(x with t replaced by <unk>)",
    steps=each_once,
)
def occlusion_unk(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """How far the probability of the predicted class falls with an unknown word in the token's place."""
    return _mean_loss(model, batch, "unk", 1)


@method(
    "occlusion-zero",
    kind="contribution",
    signed=True,
    source="Zeiler & Fergus 2014, section 4.2; p_j(x) - p_j(x with the zero vector for t)",
    steps=each_once,
)
def occlusion_zero(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """How far the probability of the predicted class falls with the zero vector in the token's place."""
    return _mean_loss(model, batch, "zero", 1)


@method(
    "occlusion-window",
    kind="contribution",
    signed=True,
    source="Zeiler & Fergus 2014, section 4.2; windows of 3 words replaced by <unk>, the mean over those that cover t",
    steps=each_window,
)
def occlusion_window(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """The mean fall of the probability over the windows of three scorable words, stride 1, that hold the token."""
    return _mean_loss(model, batch, "unk", WINDOW)


def _mean_loss(model: Classifier, batch: Batch, operator: str, size: int) -> Tensor:
    """For each token the mean loss over the windows of `size` words that hold it; shorter texts are one window."""
    p = predict(model, batch)
    j = predicted_class(p)[:, None]
    place = (batch.scorable.cumsum(1) - 1)[:, None]
    last = (batch.scorable_lengths - size).clamp(min=0)[:, None]
    total = p.new_zeros(batch.ids.shape)
    covered = torch.zeros_like(total)
    step = max(1, _MASKED // max(1, batch.ids.numel()))
    for begin in range(0, int(last.max()) + 1, step):
        window = torch.arange(begin, min(begin + step, int(last.max()) + 1), device=batch.device)[None]
        # A text with fewer windows repeats its last one, which is evaluated once and counted once.
        first = window.minimum(last)[:, :, None]
        masks = batch.scorable[:, None] & (place >= first) & (place < first + size)
        without = evaluate_masks(model, batch, masks, operator=operator)
        loss = p.gather(1, j) - without.gather(2, j[:, :, None].expand(-1, without.shape[1], -1))[:, :, 0]
        counted = masks & (window <= last)[:, :, None]
        total += (loss[:, :, None] * counted).sum(1)
        covered += counted.sum(1)
    return total / covered.clamp(min=1)
