"""How far does the output move when the attention weights are shuffled? (Jain & Wallace 2019, section 4.2.1)"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier, Output, log_probabilities, untouched
from faithboard.metric import Probe, ProbeContext
from faithboard.rng import seed_of

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Float64, Int

PERMUTATIONS = 100
_NUMBERS = 2_000_000
"""Attention weights that are shuffled at once at most."""


@torch.no_grad()
def permutation(model: Classifier, batch: Batch, context: ProbeContext) -> Float64[Tensor, "batch point"]:
    """Median over `PERMUTATIONS` of the total variation distance of the output, and the largest weight.

    The weights of the scorable tokens trade places, the states stay. NaN for fewer than two of them, which have nothing
    to trade; weights that are all equal move nothing: 0. Texts of one length share their permutations, which come from
    the seed and the length, so that no batch or order plays a part.
    """
    with untouched(model):
        output = model(batch)
        moved = changes(model, batch, output, context.seed)
    median = torch.quantile(moved, 0.5, dim=1).masked_fill(batch.scorable_lengths < 2, torch.nan)
    largest = output.attention.masked_fill(~batch.scorable, 0.0).amax(1).double()
    return torch.stack([median, largest.masked_fill(batch.scorable_lengths == 0, torch.nan)], 1)


@torch.no_grad()
def changes(model: Classifier, batch: Batch, output: Output, seed: int) -> Float64[Tensor, "batch permutation"]:
    """Total variation distance of the output under each permutation of the weights of `output`.

    Raises ValueError for an output without attention.
    """
    if output.attention is None:
        raise ValueError("this model gave no attention that could be shuffled")
    decode = model.decoder(output, batch)
    full = output.log_probabilities(batch.candidates).exp()
    pieces = _shuffled(output.attention, batch.scorable, seed)
    return torch.cat([distances(decode(shuffled), full, batch.candidates) for shuffled in pieces], dim=1)


def distances(
    logits: Float[Tensor, "batch several output"],
    full: Float64[Tensor, "batch class"],
    candidates: Bool[Tensor, "batch class"] | None,
) -> Float64[Tensor, "batch several"]:
    """Total variation distance of each output to the one on the text as it is; |dp| for one sigmoid."""
    allowed = None if candidates is None else candidates[:, None].expand(-1, logits.shape[1], -1)
    return (log_probabilities(logits, allowed).exp() - full[:, None]).abs().sum(-1) / 2


def _shuffled(
    attention: Float[Tensor, "batch token"], scorable: Bool[Tensor, "batch token"], seed: int
) -> list[Float[Tensor, "batch several token"]]:
    """The permuted weights, in pieces of at most `_NUMBERS`; the weights of other tokens stay."""
    lengths = scorable.sum(1)
    order = (~scorable).to(torch.uint8).argsort(dim=1, stable=True)
    longest = int(lengths.max()) if len(lengths) else 0
    place = order[:, :longest]
    own = attention.gather(1, place)
    source = torch.zeros(len(lengths), PERMUTATIONS, longest, dtype=torch.long, device=attention.device)
    for length in lengths.unique().tolist():
        rows = (lengths == length).nonzero()[:, 0]
        source[rows, :, :length] = permutations(length, seed).to(attention.device)
    each = max(1, _NUMBERS // max(1, attention.numel()))
    real = torch.arange(longest, device=attention.device) < lengths[:, None]
    pieces = []
    for part in source.split(each, dim=1):
        values = own[:, None].expand(-1, part.shape[1], -1).gather(2, part)
        whole = attention[:, None].expand(-1, part.shape[1], -1).clone()
        # Where a text is shorter than the longest, the place is no scorable token: it keeps its own weight.
        values = torch.where(real[:, None], values, own[:, None])
        pieces.append(whole.scatter_(2, place[:, None].expand_as(values), values))
    return pieces


@lru_cache(maxsize=4096)
def permutations(length: int, seed: int) -> Int[Tensor, "permutation token"]:
    """`PERMUTATIONS` permutations of `length` places."""
    generator = torch.Generator().manual_seed(seed_of("permutation", seed, length))
    return torch.rand(PERMUTATIONS, length, generator=generator).argsort(1)


PERMUTATION = Probe(
    name="permutation",
    version=1,
    better="neither",
    source="Jain & Wallace 2019, section 4.2.1, algorithm 2",
    needs=frozenset({"attention", "decode"}),
    points=("permutation-median-tvd", "max-attention"),
    probe=permutation,
    steps=lambda length: (length, 0),
)
