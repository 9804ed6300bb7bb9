"""Randomness that belongs to an example, not to a batch.

Row b of every draw comes from a CPU generator seeded by a hash of (seed, example id, number of the draw). So batch
size, order, padding and resume change nothing, and a GPU draws the same numbers as a CPU.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from faithboard.batch import Batch

if TYPE_CHECKING:
    from jaxtyping import Float, Int

TOKEN = "token"
"""In a shape: the token axis of the batch. Drawn for each text's own length, then padded with zeros."""


def seed_of(*parts: str | int) -> int:
    """A 63-bit seed from a hash of the parts, equal on every machine."""
    digest = hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


class Rng:
    """The source of randomness a method is given. Draws are float32 on the batch's device, shaped `[batch, *shape]`."""

    def __init__(self, seed: int, batch: Batch) -> None:
        self._seed = seed
        self._batch = batch
        self._draws = 0

    @property
    def seed(self) -> int:
        """The part of the seed that all examples share: for what belongs to the model, not to one example."""
        return self._seed

    def normal(self, *shape: int | str) -> Float[Tensor, "batch *shape"]:
        """Standard normal numbers."""
        return self._draw(shape, lambda size, generator: torch.randn(size, generator=generator))

    def uniform(self, *shape: int | str) -> Float[Tensor, "batch *shape"]:
        """Uniform numbers in [0, 1)."""
        return self._draw(shape, lambda size, generator: torch.rand(size, generator=generator))

    def integers(self, high: int, *shape: int | str) -> Int[Tensor, "batch *shape"]:
        """Uniform integers in [0, high)."""
        return self._draw(shape, lambda size, generator: torch.randint(high, size, generator=generator))

    def permutation(self) -> Int[Tensor, "batch token"]:
        """For each text, its scorable positions in random order, then all other positions."""
        batch = self._batch
        keys = self.uniform(TOKEN).masked_fill(~batch.scorable, 2.0)
        return keys.argsort(dim=1, stable=True)

    def _draw(
        self, shape: tuple[int | str, ...], sample: Callable[[tuple[int, ...], torch.Generator], Tensor]
    ) -> Tensor:
        batch, width = self._batch, self._batch.ids.shape[1]
        lengths = batch.lengths.tolist()
        rows = []
        for name, length in zip(batch.example_id, lengths, strict=True):
            generator = torch.Generator().manual_seed(seed_of(self._seed, name, self._draws))
            own = sample(tuple(length if n == TOKEN else int(n) for n in shape), generator)
            for axis, n in enumerate(shape):
                if n == TOKEN:
                    missing = list(own.shape)
                    missing[axis] = width - length
                    own = torch.cat([own, own.new_zeros(missing)], axis)
            rows.append(own)
        self._draws += 1
        return torch.stack(rows).to(batch.device)
