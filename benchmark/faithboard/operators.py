"""What stands in place of the words that an erasure takes away (definitions, section 5).

An operator turns texts and a mask of words into what the model reads instead: a batch and, where ids alone cannot say
it, embeddings. One of them leaves what is read and takes the words' attention away. Query, begin, end and candidates
are never touched.
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
    apply: Apply | None
    """None where the text is read as it is and attention alone changes: see `reweighted`."""
    shortens: bool = False
    """Whether the texts that come out lack the masked words, rather than hold something else in their place."""
    needs: frozenset[str] = frozenset()
    """What a model must be able to do (`Classifier.capabilities`)."""


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


def reweighted(
    attention: Float[Tensor, "text token"], masks: Bool[Tensor, "text mask token"]
) -> Float[Tensor, "text mask token"]:
    """The attention of each text without that of the masked words, scaled to sum to what it summed to before.

    Serrano & Smith 2019, section 3.1. Where every weight is taken away the weights are 0: the context is the zero
    vector, as it is for a text without words.
    """
    left = attention[:, None].masked_fill(masks, 0.0)
    total = left.sum(2, keepdim=True)
    return torch.where(total > 0, left / total * attention.sum(1)[:, None, None], 0.0)


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
        Operator("attention", None, needs=frozenset({"attention", "decode"})),
    )
}
"""By name: words deleted and the rest encoded again; replaced, by `<unk>`, the zero vector, the kept word before; or,
with the states of the whole text, no longer attended."""
