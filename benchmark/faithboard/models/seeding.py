"""A block of code with a random state of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from faithboard.rng import seed_of


@contextmanager
def seeded(*parts: str | int, device: torch.device | None = None) -> Iterator[None]:
    """Seed torch's own generators from a hash of `parts` for the block and put them back afterwards.

    For what cannot be given a generator, as the initialisation of layers and dropout. `device` is a GPU whose generator
    is seeded too.
    """
    on_gpu = device is not None and device.type == "cuda"
    with torch.random.fork_rng(devices=[device] if on_gpu else []):
        seed = seed_of(*parts)
        torch.default_generator.manual_seed(seed)
        if on_gpu:
            with torch.cuda.device(device):
                torch.cuda.manual_seed(seed)
        yield
