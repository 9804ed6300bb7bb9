"""A padded batch of texts as token ids, and every perturbation of it.

This is the one module where texts are perturbed. It works on ids: nothing is ever joined to a string and tokenised
again, kept tokens keep their order, and only scorable positions can be removed or replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from jaxtyping import Bool, Int


@dataclass(frozen=True)
class Specials:
    """Ids of the tokens that are not words. None of them is assumed to be zero."""

    pad: int
    unk: int
    begin: int
    end: int
    sep: int


@dataclass(frozen=True, eq=False)
class Batch:
    """Texts padded on the right. There is no label and no rationale in it: a method cannot see them."""

    ids: Int[Tensor, "batch token"]
    segment: Int[Tensor, "batch token"]
    """0 for the text, 1 for the query (question, hypothesis, claim). Special tokens belong to the segment they wrap."""
    real: Bool[Tensor, "batch token"]
    """True where there is a token, False on padding."""
    scorable: Bool[Tensor, "batch token"]
    """True where an explanation gives a score: tokens of the explained segments, without begin, end and separator."""
    example_id: tuple[str, ...]
    specials: Specials
    candidates: Bool[Tensor, "batch class"] | None = None
    """Classes that can be the answer. Fixed on the full input: perturbing the text leaves them as they are."""

    def __len__(self) -> int:
        return self.ids.shape[0]

    @property
    def device(self) -> torch.device:
        return self.ids.device

    @property
    def lengths(self) -> Int[Tensor, "batch"]:
        """Number of real tokens of each text, special ones included."""
        return self.real.sum(1)

    @property
    def scorable_lengths(self) -> Int[Tensor, "batch"]:
        """T of the definitions: number of scorable tokens of each text."""
        return self.scorable.sum(1)

    def to(self, device: torch.device | str) -> Batch:
        return replace(
            self,
            ids=self.ids.to(device),
            segment=self.segment.to(device),
            real=self.real.to(device),
            scorable=self.scorable.to(device),
            candidates=None if self.candidates is None else self.candidates.to(device),
        )

    def rows(self, index: Int[Tensor, "row"] | Sequence[int] | slice) -> Batch:
        """The texts at `index`, in that order, repeats allowed; padding that none of them needs is cut off."""
        if isinstance(index, slice):
            index = range(len(self))[index]
        at = torch.as_tensor(index, dtype=torch.long, device=self.device)
        longest = int(self.real[at].sum(1).max()) if len(at) else 0
        return Batch(
            ids=self.ids[at, :longest],
            segment=self.segment[at, :longest],
            real=self.real[at, :longest],
            scorable=self.scorable[at, :longest],
            example_id=tuple(self.example_id[i] for i in at.tolist()),
            specials=self.specials,
            candidates=None if self.candidates is None else self.candidates[at],
        )

    def repeat(self, times: int) -> Batch:
        """Each text `times` times in a row: rows 0..times-1 are text 0."""
        return replace(
            self,
            ids=self.ids.repeat_interleave(times, 0),
            segment=self.segment.repeat_interleave(times, 0),
            real=self.real.repeat_interleave(times, 0),
            scorable=self.scorable.repeat_interleave(times, 0),
            candidates=None if self.candidates is None else self.candidates.repeat_interleave(times, 0),
            example_id=tuple(name for name in self.example_id for _ in range(times)),
        )

    def padded_to(self, length: int) -> Batch:
        """The same texts with padding on the right up to `length` tokens."""
        extra = length - self.ids.shape[1]
        if extra < 0:
            raise ValueError(f"cannot pad a batch of {self.ids.shape[1]} tokens to {length}")

        def pad(values: Tensor, fill: int | bool) -> Tensor:
            return torch.nn.functional.pad(values, (0, extra), value=fill)

        return replace(
            self,
            ids=pad(self.ids, self.specials.pad),
            segment=pad(self.segment, 0),
            real=pad(self.real, False),
            scorable=pad(self.scorable, False),
        )

    def without(self, drop: Bool[Tensor, "batch token"]) -> Batch:
        """The texts with the tokens marked in `drop` deleted and the rest moved together, in order.

        Raises ValueError when `drop` marks a position that is not scorable.
        """
        self._check_scorable(drop)
        return self._compact(self.real & ~drop)

    def replaced(self, mask: Bool[Tensor, "batch token"], ids: Int[Tensor, "batch token"] | int) -> Batch:
        """The texts with the tokens marked in `mask` replaced by `ids` (one id for all, or one per position).

        Raises ValueError when `mask` marks a position that is not scorable.
        """
        self._check_scorable(mask)
        new = torch.where(mask, torch.as_tensor(ids, dtype=self.ids.dtype, device=self.device), self.ids)
        return replace(self, ids=new)

    def _check_scorable(self, mask: Bool[Tensor, "batch token"]) -> None:
        if bool((mask & ~self.scorable).any()):
            raise ValueError("only scorable tokens can be perturbed; begin, end, query and padding stay")

    def _compact(self, keep: Bool[Tensor, "batch token"]) -> Batch:
        lengths = keep.sum(1)
        longest = int(lengths.max()) if len(self) else 0
        # A stable sort on "dropped" brings kept tokens to the front without changing their order.
        order = (~keep).to(torch.uint8).argsort(dim=1, stable=True)[:, :longest]
        real = torch.arange(longest, device=self.device)[None, :] < lengths[:, None]
        return replace(
            self,
            ids=self.ids.gather(1, order).masked_fill(~real, self.specials.pad),
            segment=self.segment.gather(1, order).masked_fill(~real, 0),
            real=real,
            scorable=self.scorable.gather(1, order) & real,
        )
