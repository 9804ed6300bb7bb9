"""What stands in place of the words that an erasure takes away (definitions, section 5).

An operator turns texts and a mask of words into what the model reads instead: a batch and, where ids alone cannot say
it, embeddings. Query, begin, end and candidates are never touched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.errors import ContractError, near

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int

Apply = Callable[[Classifier, Batch, "Tensor"], "tuple[Batch, Tensor | None]"]


@dataclass(frozen=True)
class Operator:
    """One way to take words away. `apply(model, batch, mask)` gives a batch and its embeddings, None for its own."""

    name: str
    apply: Apply
    shortens: bool = False
    """Whether the texts that come out lack the masked words, rather than hold something else in their place."""


def operator_named(name: str) -> Operator:
    """The operator `name`. Raises ContractError for one that does not exist."""
    if name not in OPERATORS:
        raise ContractError(f"unknown operator {name!r}; {near(name, OPERATORS)}")
    return OPERATORS[name]


def previous_kept(batch: Batch, masked: Bool[Tensor, "batch token"]) -> Int[Tensor, "batch token"]:
    """For each position the id of the nearest kept word before it or, before the first kept word, of that one.

    In a text of which no word is kept it is `<unk>`.
    """
    kept = batch.scorable & ~masked
    position = torch.arange(kept.shape[1], device=kept.device).expand_as(kept)
    nearest = position.where(kept, -1).cummax(1).values
    first = position.where(kept, kept.shape[1] - 1).amin(1, keepdim=True)
    ids = batch.ids.gather(1, nearest.where(nearest >= 0, first))
    return ids.where(kept.any(1, keepdim=True), batch.specials.unk)


def _delete(
    model: Classifier, batch: Batch, mask: Bool[Tensor, "batch token"]
) -> tuple[Batch, Float[Tensor, "batch token dim"] | None]:
    return batch.without(mask), None


def _unk(
    model: Classifier, batch: Batch, mask: Bool[Tensor, "batch token"]
) -> tuple[Batch, Float[Tensor, "batch token dim"] | None]:
    return batch.replaced(mask, batch.specials.unk), None


def _zero(
    model: Classifier, batch: Batch, mask: Bool[Tensor, "batch token"]
) -> tuple[Batch, Float[Tensor, "batch token dim"] | None]:
    return batch, model.embed(batch).masked_fill(mask[:, :, None], 0.0)


def _previous(
    model: Classifier, batch: Batch, mask: Bool[Tensor, "batch token"]
) -> tuple[Batch, Float[Tensor, "batch token dim"] | None]:
    return batch.replaced(mask, previous_kept(batch, mask)), None


OPERATORS: Mapping[str, Operator] = {
    operator.name: operator
    for operator in (
        Operator("delete", _delete, shortens=True),
        Operator("unk", _unk),
        Operator("zero", _zero),
        Operator("previous", _previous),
    )
}
"""By name: words deleted and the rest encoded again, or replaced: by `<unk>`, the zero vector, the kept word before."""
