"""The batches of an epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from jaxtyping import Int

POOL = 50
"""Batches whose texts are sorted by length together. Larger pools pad less and shuffle less."""


def shuffled(lengths: Int[Tensor, "text"], batch_size: int, generator: torch.Generator) -> list[Int[Tensor, "row"]]:
    """Every text once, in random batches of similar length.

    Texts are shuffled, sorted by length within pools of `POOL` batches, cut into batches, and the batches shuffled.
    """
    order = torch.randperm(len(lengths), generator=generator)
    batches = []
    for pool in order.split(batch_size * POOL):
        by_length = pool[lengths[pool].argsort(stable=True)]
        batches.extend(by_length.split(batch_size))
    return [batches[at] for at in torch.randperm(len(batches), generator=generator).tolist()]
