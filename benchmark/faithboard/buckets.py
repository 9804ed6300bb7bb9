"""Batches by length: texts of like length together, no more than a budget of tokens at once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from jaxtyping import Int

_CPU_TOKENS = {False: 8_192, True: 4_096}
_ACCELERATOR_TOKENS = {False: 262_144, True: 131_072}
"""With or without gradients -> tokens at once where memory is plenty."""
_BYTES_PER_TOKEN = {False: 16_384, True: 65_536}
"""With or without gradients -> what a token is reckoned to take; a BiLSTM of 128 units on 300-d embeddings takes 23 KiB
with them and 6 KiB without."""
_PARTS = 512
"""Every step of a recurrent pass costs as much by itself as with a 512th part of the budget in texts more: measured on
a CPU as 8 to 16 texts. An accelerator, whose budget is larger, wastes more on a small pass."""
_SHARE = 0.5
"""Of the free memory that one pass may take: the caller holds texts, points and scores too."""
_MEMINFO = Path("/proc/meminfo")


def token_budget(device: torch.device, *, gradients: bool = False) -> int:
    """Tokens to run at once, padding included, where nothing else is asked for: at least 1, less where memory is short.

    On a CPU it is where a BiLSTM of 128 units is fastest: smaller batches leave the matrix products small, larger ones
    leave the cache, which with gradients happens earlier. An accelerator wants far more. Where the system does not say
    how much memory is free, memory is taken to be plenty.
    """
    on_cpu = device.type == "cpu"
    wanted = (_CPU_TOKENS if on_cpu else _ACCELERATOR_TOKENS)[gradients]
    free = _free_bytes(device)
    if free is None:
        return wanted
    return max(1, min(wanted, int(_SHARE * free) // _BYTES_PER_TOKEN[gradients]))


def token_batches(lengths: Int[Tensor, "text"], budget: int) -> Iterator[Int[Tensor, "row"]]:
    """Indices of texts, each exactly once, in batches of at most `budget` tokens with padding counted.

    Longest first, so that memory runs out at once if it ever does. A text longer than the budget is a batch of its own.
    A batch ends early where a new one costs less than the padding of going on. Raises ValueError for a budget below one
    token.
    """
    if budget < 1:
        raise ValueError(f"a token budget must be at least 1, got {budget}")
    worth = max(1.0, budget / _PARTS)
    order = lengths.argsort(descending=True, stable=True)
    sizes = lengths[order].clamp(min=1).tolist()
    start, padding = 0, 0
    for end, size in enumerate(sizes):
        longest = sizes[start]
        padding += longest - size
        if end > start and ((end - start + 1) * longest > budget or padding > worth * size):
            yield order[start:end]
            start, padding = end, 0
    if sizes:
        yield order[start:]


def _free_bytes(device: torch.device) -> int | None:
    """Memory that can still be taken on the device; None where nobody says."""
    if device.type == "cuda":
        if not torch.cuda.is_available():
            return None
        # What torch's allocator keeps for itself without using it is free to us, though the driver counts it as taken.
        cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] + cached
    return _available_bytes() if device.type == "cpu" else None


def _available_bytes() -> int | None:
    """Main memory that can be taken without swapping."""
    if _MEMINFO.exists():
        for line in _MEMINFO.read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return int(value.split()[0]) * 1024
    names: dict[str, int] = getattr(os, "sysconf_names", {})
    if {"SC_AVPHYS_PAGES", "SC_PAGE_SIZE"} <= names.keys():
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None
