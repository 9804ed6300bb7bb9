"""A linear model fitted to what the classifier says of texts with random words deleted."""

from __future__ import annotations

import math
from functools import cache

import torch
from torch import Tensor

from faithboard import TOKEN, Batch, Classifier, Rng, evaluate_masks, method, predict, predicted_class

SAMPLES = 1_000
"""The full text and 999 others, or every subset of a text that has no more."""
WIDTH, ALPHA = 25.0, 1.0

_DRAWN = 100
"""Samples drawn at once; a constant, so that what a text draws depends on nothing else."""
_FITTED = 2**22
"""Numbers of the design matrices of all texts that are built at once."""


def samples_without_repeats(drawn: int, share: float, log_subsets: float) -> float:
    """Expected number of distinct ones among `drawn * share` subsets drawn from exp(`log_subsets`) equally likely."""
    if log_subsets > 30:
        return drawn * share
    subsets = math.exp(log_subsets)
    return -subsets * math.expm1(drawn * math.log1p(-share / subsets)) if share < subsets else subsets


def log_binomial(n: int, k: int) -> float:
    """Logarithm of the number of subsets of size k."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


@cache
def planned(length: int) -> tuple[float, float]:
    """Planned token steps: the full text and the tokens left in the distinct samples, in expectation."""
    if 2**length <= SAMPLES:
        return length * 2 ** (length - 1) if length else 0, 0
    sizes = range(1, length + 1)
    expected = [samples_without_repeats(SAMPLES - 1, 1 / length, log_binomial(length, size)) for size in sizes]
    return length + math.fsum(n * (length - size) for n, size in zip(expected, sizes, strict=True)), 0


@method(
    "lime",
    kind="contribution",
    signed=True,
    source="Ribeiro et al. 2016, section 3.4 and the published text explainer: 1,000 samples, ridge of alpha 1",
    stochastic=True,
    steps=planned,
)
def lime(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """The weight of each token in a weighted ridge regression of p_j on the tokens that are kept.

    A sample deletes a random number of words, uniform in 1..T. Its weight is sqrt(exp(-d^2 / 25^2)) with
    d = 100 (1 - cos) of its kept words and all of them; the intercept is not penalised and no word is selected.
    """
    p = predict(model, batch)
    j = predicted_class(p)[:, None]
    drop, counted = _samples(batch, rng)
    without = evaluate_masks(model, batch, drop)
    y = without.gather(2, j[:, :, None].expand(-1, without.shape[1], -1))[:, :, 0]
    kept = batch.scorable_lengths[:, None] - drop.sum(2)
    distance = 100 * (1 - (kept / batch.scorable_lengths[:, None].clamp(min=1)).double().sqrt())
    weight = (-(distance**2) / (2 * WIDTH**2)).exp() * counted
    return _ridge(batch, drop, y, weight, p.gather(1, j)[:, 0])


def _samples(batch: Batch, rng: Rng) -> tuple[Tensor, Tensor]:
    """Words to delete `[batch, sample, token]` and which samples count `[batch, sample]`, the full text apart."""
    words = batch.scorable_lengths
    few = words < SAMPLES.bit_length()
    longest = int(words.max()) if len(batch) else 0
    number = 2**longest - 1 if bool(few.all()) else SAMPLES - 1
    index = torch.arange(1, number + 1, device=batch.device)[None]
    most = (2 ** words.where(few, 0))[:, None] - 1
    place = (batch.scorable.cumsum(1) - 1).clamp(0, 15)[:, None].short()
    # Subset k deletes the words whose bits are set in k. A text with fewer subsets repeats its last one, uncounted.
    every = ((index.minimum(most).short()[:, :, None] >> place) & 1).bool() & batch.scorable[:, None]
    if bool(few.all()):
        return every, index <= most
    drawn = torch.cat([_drawn(batch, rng, min(_DRAWN, number - start)) for start in range(0, number, _DRAWN)], 1)
    return torch.where(few[:, None, None], every, drawn), (index <= most) | ~few[:, None]


def _drawn(batch: Batch, rng: Rng, number: int) -> Tensor:
    """Random words `[batch, number, token]`: first how many, uniform in 1..T, then which."""
    words = batch.scorable_lengths[:, None].clamp(min=1)
    size = (rng.uniform(number).double() * words).long().minimum(words - 1)
    keys = rng.uniform(number, TOKEN).masked_fill(~batch.scorable[:, None], 2.0)
    largest = keys.sort(2).values.gather(2, size[:, :, None])
    return (keys <= largest) & batch.scorable[:, None]


def _ridge(batch: Batch, drop: Tensor, y: Tensor, weight: Tensor, full: Tensor) -> Tensor:
    """Coefficients `[batch, token]` in float64 of y on the kept words; the full text is a sample of weight 1."""
    words = batch.scorable.double()
    weights = 1 + weight.sum(1)
    mean_y = (full + (weight * y).sum(1)) / weights
    mean = words.clone()
    products = words[:, :, None] * words[:, None]
    moment = words * full[:, None]
    step = max(1, _FITTED // max(1, batch.ids.numel()))
    for start in range(0, drop.shape[1], step):
        part = slice(start, start + step)
        kept = (batch.scorable[:, None] & ~drop[:, part]).double()
        weighted = kept * weight[:, part, None]
        mean += weighted.sum(1)
        products += weighted.transpose(1, 2) @ kept
        moment += (weighted * y[:, part, None]).sum(1)
    mean = mean / weights[:, None]
    spread = products - weights[:, None, None] * mean[:, :, None] * mean[:, None]
    spread.diagonal(dim1=1, dim2=2).add_(ALPHA)
    return torch.linalg.solve(spread, moment - weights[:, None] * mean * mean_y[:, None])
