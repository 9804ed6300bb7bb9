"""Texts with one token deleted, as what an encoder may compute from the states of the whole texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int


@dataclass(frozen=True)
class Deletion:
    """Row r is text `text[r]` without the token at `position[r]`. Rows are sorted by position."""

    text: Int[Tensor, "row"]
    position: Int[Tensor, "row"]
    real: Bool[Tensor, "text token"]
    """Tokens of the whole texts; they come first in each."""

    def kept(self) -> Int[Tensor, "row kept"]:
        """For each place in a row the position in the whole text of the token that stands there; padding follows."""
        place = torch.arange(self.real.shape[1] - 1, device=self.position.device)[None]
        return place + (place >= self.position[:, None])

    def compacted(self, states: Float[Tensor, "text token dim"]) -> Float[Tensor, "row kept dim"]:
        """What belongs to the tokens that are kept, in order."""
        place = self.text[:, None] * states.shape[1] + self.kept()
        # Whole rows of memory at a time, which indexing by two tensors would copy number by number.
        return states.flatten(0, 1).index_select(0, place.flatten()).unflatten(0, place.shape)

    def bounds(self) -> list[int]:
        """`bounds()[t]` rows have their token deleted before position t, `t = 0 .. length of the whole texts`."""
        ends = torch.arange(self.real.shape[1] + 1, device=self.position.device)
        return torch.searchsorted(self.position.contiguous(), ends).tolist()
