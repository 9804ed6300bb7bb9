"""Checks of texts that methods stumble over, and of what a method may change in a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from faithboard.attribution import Method
from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.conformance.check import Check, Untried, scores_of
from faithboard.erasure import without_each_token
from faithboard.errors import ContractError

if TYPE_CHECKING:
    from jaxtyping import Float

_DIFFERENT = 1e-4
"""Change of a probability from which two places of a word count as different to the model."""
_MOVED = 1e-4
"""Change of an embedding, as a share of the largest of the text, from which a token counts as perturbed."""
_FEW = 8
"""Texts on which every call of the model is looked at."""
LONG = 700
"""Words of the long text."""
_AFFORDABLE = 5_000_000
"""Planned token steps of the long text up to which it is tried: a check is to take seconds."""


def _one_token(method: Method, model: Classifier, batch: Batch) -> None:
    scores_of(method, model, batch.without(batch.scorable & (batch.scorable.cumsum(1) > 1)))


def _long_text(method: Method, model: Classifier, batch: Batch) -> None:
    planned = sum(method.steps(LONG)) if method.steps else 0
    if planned > _AFFORDABLE:
        raise Untried(f"planned are {planned:,.0f} token steps, above the {_AFFORDABLE:,} of this check")
    scores_of(method, model, lengthened(batch, LONG))


def lengthened(batch: Batch, words: int) -> Batch:
    """One text of `words` scorable words: those of the whole batch over and over, in the place of its first text's."""
    one = batch.rows([0])
    first, last = (int(one.scorable[0].nonzero()[at, 0]) for at in (0, -1))
    source = batch.ids[batch.scorable]
    ids = source.repeat(-(-words // len(source)))[:words]

    def put(values: Tensor, middle: Tensor) -> Tensor:
        return torch.cat([values[0, :first], middle.to(values.dtype), values[0, last + 1 :]])[None]

    everywhere = torch.ones_like(ids)
    return replace(
        one,
        ids=put(one.ids, ids),
        segment=put(one.segment, everywhere * one.segment[0, first]),
        real=put(one.real, everywhere),
        scorable=put(one.scorable, everywhere),
    )


def _repeated_words(method: Method, model: Classifier, batch: Batch) -> None:
    """A word that stands twice is two tokens. Told by a model that answers differently without the one or the other."""
    several = batch.rows((batch.scorable_lengths > 2).nonzero()[:, 0])
    if method.kind == "reference" or len(several) == 0:
        return
    place = several.scorable.cumsum(1)
    last = several.scorable & (place == several.scorable_lengths[:, None])
    first = several.scorable & (place == 1)
    twice = several.replaced(last, several.ids[first][:, None].expand_as(several.ids))
    p = without_each_token(model, twice)
    matters = (p[first] - p[last]).abs().amax(1) > _DIFFERENT
    scores = scores_of(method, model, twice)
    if bool(matters.any()) and bool((scores[first] == scores[last])[matters].all()):
        raise ContractError("a word that stands twice has one score in every text, though the model tells them apart")


def _special_tokens(method: Method, model: Classifier, batch: Batch) -> None:
    """Begin, end, separator and query stay in every text that the method asks the model about."""
    few = batch.rows(slice(_FEW))
    kept = {name: ids[stays].tolist() for name, ids, stays in zip(few.example_id, few.ids, _stays(few), strict=True)}
    wrong: list[str] = []

    def look(module: nn.Module, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        asked: Batch = named["batch"] if "batch" in named else given[0]
        embedded: Tensor | None = named.get("embedded", given[1] if len(given) > 1 else None)
        for name, ids, stays in zip(asked.example_id, asked.ids, _stays(asked), strict=True):
            if name in kept and ids[stays].tolist() != kept[name]:
                wrong.append(f"the model is asked about {name} with other special tokens or another query")
        if embedded is not None and _moved(model.embed, asked, embedded):
            wrong.append("embeddings of special tokens or of the query are changed")

    watch = model.register_forward_pre_hook(look, with_kwargs=True)
    try:
        scores_of(method, model, few)
    finally:
        watch.remove()
    if wrong:
        raise ContractError(f"{wrong[0]}: perturb scorable tokens alone")


def _stays(batch: Batch) -> Tensor:
    return batch.real & ~batch.scorable


@torch.no_grad()
def _moved(
    embed: Callable[[Batch], Float[Tensor, "batch token dim"]], batch: Batch, embedded: Float[Tensor, "batch token dim"]
) -> bool:
    own = embed(batch)
    if own.shape != embedded.shape:
        return False
    off = (embedded.detach() - own).abs().amax(-1)[_stays(batch)]
    return bool((off > _MOVED * own.abs().max()).any())


TEXTS = (
    Check("special-tokens", "only scorable tokens are perturbed; special tokens and query stay", _special_tokens),
    Check("one-token", "a text of one token has a finite score", _one_token),
    Check("long-text", f"a text of {LONG} tokens has finite scores", _long_text),
    Check("repeated-words", "words that stand twice are scored by position", _repeated_words),
)
