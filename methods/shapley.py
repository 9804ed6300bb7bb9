"""Shapley values of the words in the game whose value is p_j of the words that are kept."""

from __future__ import annotations

import math
from functools import cache

import torch
from torch import Tensor

from faithboard import TOKEN, Attribution, Batch, Classifier, Rng, evaluate_masks, method, predict, predicted_class

PERMUTATIONS = 25
"""Random orders of the words, each followed by its reverse."""
SUBSETS = 2_048
"""Subsets that kernel-shap asks for beside two per word."""

_DRAWN = 128
"""Pairs of subsets drawn at once; a constant, so that what a text draws depends on nothing else."""
_MASKED = 2**24
"""Positions of masks that are built at once."""
_FITTED = 2**22
"""Numbers of the design matrices of all texts that are built at once."""


def distinct(drawn: int, share: float, length: int, size: int) -> float:
    """Expected distinct subsets of `size` words in `drawn` pairs, each of which holds any one with `2 share / C`."""
    log_subsets = math.lgamma(length + 1) - math.lgamma(size + 1) - math.lgamma(length - size + 1)
    if log_subsets > 30:
        return 2 * drawn * share
    subsets = math.exp(log_subsets)
    hit = 2 * share / subsets
    return subsets if hit >= 1 else -subsets * math.expm1(drawn * math.log1p(-hit))


@cache
def planned_sampling(length: int) -> tuple[float, float]:
    """Planned token steps: the full text twice and the words kept in the distinct subsets, in expectation."""
    return 2 * length + math.fsum(k * distinct(PERMUTATIONS, 1, length, k) for k in range(1, length)), 0


@cache
def planned_kernel(length: int) -> tuple[float, float]:
    """Planned token steps: the full text and the words kept in the distinct subsets, in expectation."""
    if 2**length - 2 <= 2 * length + SUBSETS:
        return length * 2 ** (length - 1) if length else 0, 0
    scale = math.fsum(1 / (k * (length - k)) for k in range(1, length))
    pairs = length + SUBSETS // 2
    shares = {k: 1 / (k * (length - k)) / scale for k in range(1, length)}
    return length + math.fsum(k * distinct(pairs, share, length, k) for k, share in shares.items()), 0


@method(
    "shapley-sampling",
    kind="contribution",
    signed=True,
    source="Strumbelj & Kononenko 2010; 25 permutations, each with its reverse (Mitchell et al. 2022, section 4.1)",
    stochastic=True,
    steps=planned_sampling,
)
def shapley_sampling(model: Classifier, batch: Batch, rng: Rng) -> Attribution:
    """What each token adds to p_j when it joins those before it, the mean over orders; sums to p(x) - p(empty)."""
    j = predicted_class(predict(model, batch))[:, None, None]
    width = batch.ids.shape[1]
    words = batch.scorable_lengths[:, None]
    upto = torch.arange(width + 1, device=batch.device)[None, None, :, None]
    together = max(1, _MASKED // max(1, 2 * batch.ids.numel() * (width + 1)))
    scores = torch.zeros(batch.ids.shape, dtype=torch.float64, device=batch.device)
    total = scores.new_zeros(len(batch))
    for start in range(0, PERMUTATIONS, together):
        ranks = [_rank(rng.permutation()) for _ in range(start, min(start + together, PERMUTATIONS))]
        rank = torch.stack([r for one in ranks for r in (one, words - 1 - one)], 1)
        drop = batch.scorable[:, None, None] & (rank[:, :, None] >= upto)
        p = evaluate_masks(model, batch, drop.flatten(1, 2))
        value = p.gather(2, j.expand(-1, p.shape[1], -1))[:, :, 0].unflatten(1, (-1, width + 1))
        added = value.diff(dim=2).gather(2, rank.clamp(min=0))
        scores += added.sum(1)
        total += (value[:, :, -1] - value[:, :, 0]).sum(1)
    return Attribution(scores / (2 * PERMUTATIONS), total / (2 * PERMUTATIONS))


@method(
    "kernel-shap",
    kind="contribution",
    signed=True,
    source="Lundberg & Lee 2017, theorem 2; pairs of complements (Covert & Lee 2021), both constraints exact",
    stochastic=True,
    steps=planned_kernel,
)
def kernel_shap(model: Classifier, batch: Batch, rng: Rng) -> Attribution:
    """The additive game closest to p_j under the Shapley kernel that agrees with it on the full and the empty text.

    All 2^T - 2 subsets where they are no more than 2 T + 2,048, which gives the Shapley values exactly; otherwise as
    many, drawn from the kernel in pairs of a subset and its complement.
    """
    p = predict(model, batch)
    j = predicted_class(p)[:, None]
    kept, weight = _coalitions(batch, rng)
    drop = torch.cat([batch.scorable[:, None], batch.scorable[:, None] & ~kept], 1)
    found = evaluate_masks(model, batch, drop)
    value = found.gather(2, j[:, :, None].expand(-1, found.shape[1], -1))[:, :, 0]
    empty, value = value[:, 0], value[:, 1:]
    total = p.gather(1, j)[:, 0] - empty
    return Attribution(_constrained(batch, kept, value - empty[:, None], weight, total), total)


def _rank(order: Tensor) -> Tensor:
    """The place of each position in `order`."""
    place = torch.arange(order.shape[1], device=order.device).expand_as(order)
    return torch.empty_like(order).scatter_(1, order, place)


def _coalitions(batch: Batch, rng: Rng) -> tuple[Tensor, Tensor]:
    """Kept words `[batch, subset, token]` and the weight of each subset `[batch, subset]`, 0 for one that fills up."""
    words = batch.scorable_lengths[:, None]
    few = 2.0**words - 2 <= 2 * words + SUBSETS
    asked = torch.where(few, (2 ** words.where(few, 1) - 2).clamp(min=0), 2 * words + SUBSETS)
    index = torch.arange(int(asked.max()) if len(batch) else 0, device=batch.device)[None]
    counted = index < asked
    place = (batch.scorable.cumsum(1) - 1).clamp(0, 15)[:, None].short()
    # Subset k keeps the words whose bits are set in k. A text with fewer subsets repeats its last one, uncounted.
    number = (index + 1).minimum(asked.where(few, 0)).short()
    every = ((number[:, :, None] >> place) & 1).bool() & batch.scorable[:, None]
    weight = _kernel(every.sum(2), words)
    if not bool(few.all()):
        drawn = torch.cat([_pairs(batch, rng) for _ in range(0, index.shape[1], 2 * _DRAWN)], 1)[:, : index.shape[1]]
        drawn = drawn.where(counted[:, :, None], drawn[:, :1])
        every, weight = torch.where(few[:, :, None], every, drawn), weight.where(few, 1.0)
    return every, weight * counted


def _kernel(size: Tensor, words: Tensor) -> Tensor:
    """Weight of one subset of `size` words in float64: (T - 1) / (C(T, size) size (T - size)), up to a factor."""
    n, k = words.double(), size.double()
    log_subsets = torch.lgamma(n + 1) - torch.lgamma(k + 1) - torch.lgamma(n - k + 1)
    return torch.exp(-log_subsets) / (k * (n - k)).clamp(min=1)


def _pairs(batch: Batch, rng: Rng) -> Tensor:
    """Random subsets and their complements in turn `[batch, 2 x _DRAWN, token]`: the size by the kernel, then which."""
    words = batch.scorable_lengths[:, None]
    size = torch.arange(1, max(2, int(words.max())), device=batch.device)[None]
    mass = torch.where(size < words, 1 / (size * (words - size)).double(), 0.0)
    share = mass.cumsum(1) / mass.sum(1, keepdim=True).clamp(min=torch.finfo(torch.float64).tiny)
    chosen = torch.searchsorted(share, rng.uniform(_DRAWN).double(), right=True).minimum((words - 2).clamp(min=0))
    keys = rng.uniform(_DRAWN, TOKEN).masked_fill(~batch.scorable[:, None], 2.0)
    largest = keys.sort(2).values.gather(2, chosen[:, :, None])
    kept = (keys <= largest) & batch.scorable[:, None]
    return torch.stack([kept, batch.scorable[:, None] & ~kept], 2).flatten(1, 2)


def _constrained(batch: Batch, kept: Tensor, value: Tensor, weight: Tensor, total: Tensor) -> Tensor:
    """argmin of sum_S weight (value - sum of scores in S)^2 over scores that sum to `total`; in float64."""
    products = value.new_zeros(len(batch), batch.ids.shape[1], batch.ids.shape[1])
    moment = value.new_zeros(batch.ids.shape)
    step = max(1, _FITTED // max(1, batch.ids.numel()))
    for start in range(0, kept.shape[1], step):
        part = slice(start, start + step)
        inside = kept[:, part].double()
        weighted = inside * weight[:, part, None]
        products += weighted.transpose(1, 2) @ inside
        moment += (weighted * value[:, part, None]).sum(1)
    diagonal = products.diagonal(dim1=1, dim2=2)
    # Other positions, and the only word of a text, which is in no subset: the constraint alone decides.
    diagonal += (diagonal == 0).double()
    words = batch.scorable.double()
    free, even = torch.linalg.solve(products, torch.stack([moment, words], 2)).unbind(2)
    even = even * words
    return free - even * ((free.sum(1) - total) / even.sum(1).clamp(min=torch.finfo(torch.float64).tiny))[:, None]
