"""Texts encoded once, ready to be cut into batches again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor

from faithboard.batch import Batch, Specials
from faithboard.data.collate import collate
from faithboard.data.vocabulary import Vocabulary
from faithboard.task import Example, Task

if TYPE_CHECKING:
    from jaxtyping import Bool, Int

CHUNK = 512
"""Texts collated at a time while encoding; bounds the padding held in memory."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """The texts of a split, one after the other without padding, and their labels."""

    ids: Int[Tensor, "tokens"]
    segment: Int[Tensor, "tokens"]
    scorable: Bool[Tensor, "tokens"]
    lengths: Int[Tensor, "text"]
    starts: Int[Tensor, "text"]
    labels: Int[Tensor, "text"]
    candidates: Bool[Tensor, "text class"] | None
    example_id: tuple[str, ...]
    specials: Specials

    @classmethod
    def of(cls, examples: Sequence[Example], vocabulary: Vocabulary, task: Task) -> Self:
        """Encode `examples` in their order."""
        chunks = [collate(examples[at : at + CHUNK], vocabulary, task) for at in range(0, len(examples), CHUNK)]
        lengths = _joined([chunk.lengths for chunk in chunks], torch.long)
        return cls(
            ids=_joined([chunk.ids[chunk.real] for chunk in chunks], torch.long),
            segment=_joined([chunk.segment[chunk.real] for chunk in chunks], torch.long),
            scorable=_joined([chunk.scorable[chunk.real] for chunk in chunks], torch.bool),
            lengths=lengths,
            starts=lengths.cumsum(0) - lengths,
            labels=torch.tensor([example.label for example in examples], dtype=torch.long),
            candidates=_candidates(chunks, len(task.labels)),
            example_id=tuple(example.id for example in examples),
            specials=vocabulary.specials,
        )

    def __len__(self) -> int:
        return len(self.example_id)

    def batch(self, index: Int[Tensor, "row"]) -> Batch:
        """The texts at `index`, in that order, padded to the longest of them."""
        lengths = self.lengths[index]
        position = torch.arange(int(lengths.max()) if len(index) else 0)
        real = position[None, :] < lengths[:, None]
        source = (self.starts[index][:, None] + position[None, :])[real]

        def padded(values: Tensor, fill: int | bool) -> Tensor:
            return torch.full(real.shape, fill, dtype=values.dtype).masked_scatter_(real, values[source])

        return Batch(
            ids=padded(self.ids, self.specials.pad),
            segment=padded(self.segment, 0),
            real=real,
            scorable=padded(self.scorable, False),
            example_id=tuple(self.example_id[row] for row in index.tolist()),
            specials=self.specials,
            candidates=None if self.candidates is None else self.candidates[index],
        )


def _joined(parts: list[Tensor], dtype: torch.dtype) -> Tensor:
    return torch.cat(parts) if parts else torch.empty(0, dtype=dtype)


def _candidates(chunks: Sequence[Batch], classes: int) -> Tensor | None:
    if all(chunk.candidates is None for chunk in chunks):
        return None
    every = [torch.ones(len(chunk), classes, dtype=torch.bool) for chunk in chunks]
    return torch.cat(
        [e if chunk.candidates is None else chunk.candidates for e, chunk in zip(every, chunks, strict=True)]
    )
