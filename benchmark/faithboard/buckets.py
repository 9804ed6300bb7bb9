"""Batches by length: texts of like length together, no more than a budget of tokens at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from jaxtyping import Int

_CPU_TOKENS = 8_192
_ACCELERATOR_TOKENS = 262_144


def token_budget(device: torch.device) -> int:
    """Tokens to run at once without gradients, padding included, where nothing else is asked for.

    On a CPU it is where a BiLSTM of 128 units is fastest: smaller batches leave the matrix products small, larger ones
    leave the cache. An accelerator wants far more; 256 Ki tokens keep a BiLSTM's states within a few GiB.
    """
    return _CPU_TOKENS if device.type == "cpu" else _ACCELERATOR_TOKENS


def token_batches(lengths: Int[Tensor, "text"], budget: int) -> Iterator[Int[Tensor, "row"]]:
    """Indices of texts, each exactly once, in batches of at most `budget` tokens with padding counted.

    Longest first, so that memory runs out at once if it ever does. A text longer than the budget is a batch of its own.
    Raises ValueError for a budget below one token.
    """
    if budget < 1:
        raise ValueError(f"a token budget must be at least 1, got {budget}")
    order = lengths.argsort(descending=True, stable=True)
    sizes = lengths[order].tolist()
    start = 0
    while start < len(sizes):
        rows = max(1, budget // max(1, sizes[start]))
        yield order[start : start + rows]
        start += rows
