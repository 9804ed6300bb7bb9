"""Ask the model again about texts with words taken away: every distinct text once, in batches of like length.

The masks of many methods and metrics for one text coincide: all of them remove the same top word, or leave the same
half. So masks are pooled, duplicates are found per text, and what is left is evaluated in one stream.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.buckets import token_batches, token_budget
from faithboard.classifier import Classifier, log_probabilities, untouched
from faithboard.errors import ContractError
from faithboard.operators import operator_named, reweighted

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Float64, Int

_ROWS = 2_048
"""Texts that are built at once at most: short remains of long texts are cut from wide masks, which take memory too."""
_NUMBERS = 2_000_000
"""Attention weights that are decoded at once at most."""


@dataclass
class MaskCount:
    """How many masked texts were asked for, and how many of them were distinct and so evaluated."""

    asked: int = 0
    evaluated: int = 0


def evaluate_masks(
    model: Classifier,
    batch: Batch,
    drop: Bool[Tensor, "batch mask token"],
    *,
    operator: str = "delete",
    budget: int | None = None,
    count: MaskCount | None = None,
) -> Float64[Tensor, "batch mask class"]:
    """Probabilities for every text with the tokens of every mask taken away and the text encoded again.

    `operator` says what stands in their place (`operators.OPERATORS`): nothing (`delete`), `<unk>` (`unk`), the zero
    vector (`zero`) or the kept word before them (`previous`); with `attention` the text is encoded whole and they get
    no attention. Kept tokens keep their order; query, begin and end stay, and candidates are those of the full text.
    Equal masks of a text are evaluated once. `budget` is the number of tokens run at once (`token_budget` of the device
    by default); `count` adds up what was asked and evaluated.

    Raises ValueError when a mask marks a position that is not scorable, ContractError for an unknown operator and for
    one that needs what the model has not.
    """
    chosen = operator_named(operator)
    if missing := chosen.needs - model.capabilities:
        raise ContractError(f"the operator {operator!r} needs {', '.join(sorted(missing))}, which this model has not")
    if bool((drop & ~batch.scorable[:, None]).any()):
        raise ValueError("only scorable tokens can be deleted; begin, end, query and padding stay")
    text, masks, place = _distinct(drop)
    if count is not None:
        count.asked += place.numel()
        count.evaluated += len(text)
    if chosen.apply is None:
        return _decoded(model, batch, text, masks, budget)[place]
    lengths, apply = batch.lengths[text], chosen.apply

    def answers(rows: Int[Tensor, "row"]) -> Float[Tensor, "row output"]:
        full = batch.rows(text[rows])
        changed, embedded = apply(model, full, masks[rows][:, : full.ids.shape[1]])
        return model(changed, embedded=embedded).logits

    return _evaluate(model, batch, text, lengths - masks.sum(1) if chosen.shortens else lengths, answers, budget)[place]


def without_each_token(
    model: Classifier, batch: Batch, *, budget: int | None = None
) -> Float64[Tensor, "batch token class"]:
    """Probabilities for every text without each of its scorable tokens in turn; NaN at all other positions.

    The texts are deleted from by the model (`Classifier.without_token`), which may know a faster way than to encode
    each of them from its beginning.
    """
    text, position = batch.scorable.nonzero(as_tuple=True)

    def answers(rows: Int[Tensor, "row"]) -> Float[Tensor, "row output"]:
        return model.without_token(batch, text[rows], position[rows])

    p = _evaluate(model, batch, text, batch.lengths[text] - 1, answers, budget)
    found = p.new_full((*batch.ids.shape, p.shape[1]), torch.nan)
    found[text, position] = p
    return found


def _distinct(
    drop: Bool[Tensor, "batch mask token"],
) -> tuple[Int[Tensor, "variant"], Bool[Tensor, "variant token"], Int[Tensor, "batch mask"]]:
    """Text and mask of each distinct variant, and for each mask asked for the variant that answers it."""
    n_texts, n_masks, width = drop.shape
    flat = drop.reshape(n_texts * n_masks, width)
    text = np.repeat(np.arange(n_texts, dtype=">u4"), n_masks)
    # One fixed-size string of bytes per mask, its text in front, compares and sorts as a whole.
    key = np.concatenate([text.view(np.uint8).reshape(-1, 4), np.packbits(flat.cpu().numpy(), axis=1)], 1)
    whole = np.ascontiguousarray(key).view(np.dtype((np.void, key.shape[1]))).reshape(-1)
    _, first, place = np.unique(whole, return_index=True, return_inverse=True)
    at = torch.from_numpy(first).to(drop.device)
    return at // max(1, n_masks), flat[at], torch.from_numpy(place).to(drop.device).reshape(n_texts, n_masks)


@torch.no_grad()
def _decoded(
    model: Classifier,
    batch: Batch,
    text: Int[Tensor, "variant"],
    masks: Bool[Tensor, "variant token"],
    budget: int | None,
) -> Float64[Tensor, "variant class"]:
    """Probabilities for each variant v: text `text[v]` with the words of `masks[v]` no longer attended.

    Variants come in the order of their texts. A text is encoded once and all its variants are decoded from its states.
    """
    p = torch.empty(len(text), model.n_classes, dtype=torch.float64, device=batch.device)
    if not len(text):
        return p
    budget = budget or token_budget(batch.device)
    starts = torch.searchsorted(text, torch.arange(len(batch) + 1, device=text.device)).tolist()
    with untouched(model):
        for rows in token_batches(batch.lengths, budget):
            part = batch.rows(rows)
            output = model(part)
            if output.attention is None:
                raise ContractError("the model announces attention and gave none")
            decode, width = model.decoder(output, part), part.ids.shape[1]
            own = [torch.arange(starts[row], starts[row + 1], device=text.device) for row in rows.tolist()]
            # Texts with fewer variants than the one with most repeat their last.
            most = max(len(variants) for variants in own)
            at = torch.stack([variants[torch.arange(most).clamp(max=len(variants) - 1)] for variants in own])
            for some in at.split(max(1, _NUMBERS // (len(part) * width)), 1):
                logits = decode(reweighted(output.attention, masks[some][:, :, :width]))
                allowed = None if part.candidates is None else part.candidates[:, None].expand(-1, some.shape[1], -1)
                p[some] = log_probabilities(logits, allowed).exp()
    return p


@torch.no_grad()
def _evaluate(
    model: Classifier,
    batch: Batch,
    text: Int[Tensor, "variant"],
    lengths: Int[Tensor, "variant"],
    answers: Callable[[Int[Tensor, "row"]], Float[Tensor, "row output"]],
    budget: int | None,
) -> Float64[Tensor, "variant class"]:
    """Probabilities for each variant v, made of text `text[v]` and `lengths[v]` tokens long; `answers` gives logits."""
    p = torch.empty(len(text), model.n_classes, dtype=torch.float64, device=batch.device)
    with untouched(model):
        buckets = token_batches(lengths, budget or token_budget(batch.device))
        waiting = [rows for bucket in buckets for rows in bucket.split(_ROWS)]
        while waiting:
            rows = waiting.pop(0)
            try:
                candidates = None if batch.candidates is None else batch.candidates[text[rows]]
                p[rows] = log_probabilities(answers(rows), candidates).exp()
            except torch.OutOfMemoryError:
                if len(rows) == 1:
                    raise
                waiting[:0] = rows.tensor_split(2)
    return p
