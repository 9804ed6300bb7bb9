"""Checks of what a model answers: shapes, finite numbers, and nothing but the text itself deciding."""

from __future__ import annotations

from dataclasses import replace

import torch

from faithboard.attribution import NEEDS
from faithboard.batch import Batch
from faithboard.classifier import Classifier, untouched
from faithboard.conformance.check import Untried
from faithboard.errors import ContractError
from faithboard.model_checks.check import ModelCheck, answer, compare, logits_of

_BATCH_SIZES = (1, 2, 7)
_BATCHES = 3
"""Batches of each size that are tried, spread over the texts."""


def _attributes(model: Classifier, batch: Batch) -> None:
    if not isinstance(getattr(model, "n_classes", None), int) or model.n_classes < 2:
        raise ContractError("n_classes must be a whole number from 2 up")
    if getattr(model, "specials", None) != batch.specials:
        raise ContractError(f"specials must be those of the texts, {batch.specials}")
    if next(model.parameters(), None) is None:
        raise ContractError("it has no parameter, by which its device is known; register its weights as nn.Parameter")
    if unknown := set(model.capabilities) - (NEEDS - {"background"}):
        raise ContractError(f"unknown capabilities: {', '.join(sorted(unknown))}")
    if ("several-classes" in model.capabilities) != (model.n_classes > 2):
        raise ContractError("`several-classes` is a capability of models of more than two classes, and of all of them")


def _logits(model: Classifier, batch: Batch) -> None:
    logits = logits_of(model, batch)
    allowed = [(len(batch), model.n_classes)] + ([(len(batch), 1)] if model.n_classes == 2 else [])
    if tuple(logits.shape) not in allowed:
        wanted = " or ".join(map(str, allowed))
        raise ContractError(f"logits must have the shape [batch, class], {wanted} here, got {tuple(logits.shape)}")
    if not logits.is_floating_point() or logits.device != batch.device:
        raise ContractError(f"logits must be floats on {batch.device}, got {logits.dtype} on {logits.device}")


def _finite(model: Classifier, batch: Batch) -> None:
    first = batch.scorable & (batch.scorable.cumsum(1) == 1)
    for texts, which in (
        (batch, "the texts as they are"),
        (batch.without(batch.scorable & ~first), "one word alone"),
        (batch.without(batch.scorable), "every scorable token removed"),
    ):
        bad = ~torch.isfinite(logits_of(model, texts)).all(1)
        if bool(bad.any()):
            raise ContractError(f"logits of example {texts.example_id[int(bad.nonzero()[0])]} are not finite ({which})")


def _embedding(model: Classifier, batch: Batch) -> None:
    with untouched(model), torch.no_grad():
        embedded = model.embed(batch)
    if embedded.ndim != 3 or tuple(embedded.shape[:2]) != tuple(batch.ids.shape):
        raise ContractError(
            f"embed(batch) must have the shape [batch, token, dim], ({batch.ids.shape[0]}, {batch.ids.shape[1]}, dim) "
            f"here, got {tuple(embedded.shape)}"
        )
    if not embedded.is_floating_point() or not bool(torch.isfinite(embedded).all()):
        raise ContractError("embed(batch) must be finite floats")


def _embedded(model: Classifier, batch: Batch) -> None:
    expected = logits_of(model, batch)
    with untouched(model), torch.no_grad():
        own = model.embed(batch)
        compare(model(batch, embedded=own).logits, expected, batch, "forward(batch, embedded=model.embed(batch))")
        other = torch.where(batch.scorable[:, :, None], own.flip(0) + own.std(), own)
        moved = model(batch, embedded=other).logits
        if torch.equal(moved, expected):
            raise ContractError("forward(batch, embedded=...) ignores what it is given")
        filled = torch.where(batch.real[:, :, None], own, own.abs().max() + 1.0)
        compare(model(batch, embedded=filled).logits, expected, batch, "with other embeddings on the padding")


def _any_batch_size(model: Classifier, batch: Batch) -> None:
    whole = logits_of(model, batch)
    for size in _BATCH_SIZES:
        for start in range(0, len(batch), max(size, len(batch) // _BATCHES)):
            part = batch.rows(slice(start, start + size))
            what = f"in batches of {size} instead of {len(batch)}"
            compare(logits_of(model, part), whole[start : start + size], part, what)


def _extra_padding(model: Classifier, batch: Batch) -> None:
    padded = batch.padded_to(batch.ids.shape[1] + 5)
    compare(logits_of(model, padded), logits_of(model, batch), batch, "with five more padding tokens")


def _content_of_padding(model: Classifier, batch: Batch) -> None:
    padded = batch.padded_to(batch.ids.shape[1] + 2)
    filled = replace(padded, ids=torch.where(padded.real, padded.ids, batch.ids[batch.scorable][0]))
    compare(logits_of(model, filled), logits_of(model, padded), batch, "with a word's id on the padding")


def _deterministic(model: Classifier, batch: Batch) -> None:
    randomness = torch.get_rng_state()
    state = {name: value.clone() for name, value in model.state_dict().items()}
    first = logits_of(model, batch)
    compare(logits_of(model, batch), first, batch, "asked again in eval mode")
    if not torch.equal(torch.get_rng_state(), randomness):
        raise ContractError("a pass in eval mode draws from torch's random state: is dropout on?")
    changed = [name for name, value in model.state_dict().items() if not torch.equal(value, state[name])]
    if changed:
        raise ContractError(f"a pass in eval mode changes {changed[0]}")


def _words(model: Classifier, batch: Batch) -> None:
    other = batch.replaced(batch.scorable, batch.specials.unk)
    if torch.equal(logits_of(model, other), logits_of(model, batch)):
        raise ContractError("the answers stay the same when every word of every text is replaced")


def _query(model: Classifier, batch: Batch) -> None:
    query = batch.real & ~batch.scorable & (batch.segment == 1)
    words = query & ~special_tokens(batch)
    if not bool(words.any()):
        raise Untried("the texts have no query that is kept")
    other = replace(batch, ids=torch.where(words, batch.specials.unk, batch.ids))
    if torch.equal(logits_of(model, other), logits_of(model, batch)):
        raise ContractError("the query (segment 1) plays no part in any answer")


def special_tokens(batch: Batch) -> torch.Tensor:
    """True at special tokens. Shape [batch, token]."""
    own = batch.specials
    return torch.isin(batch.ids, batch.ids.new_tensor([own.pad, own.begin, own.end, own.sep]))


def _candidates(model: Classifier, batch: Batch) -> None:
    if model.n_classes < 3:
        raise Untried("candidates are a matter of more than two classes")
    allowed = torch.ones(len(batch), model.n_classes, dtype=torch.bool, device=batch.device)
    allowed[:, -1] = False
    chosen = replace(batch, candidates=allowed)
    p = answer(model, chosen).log_probabilities(allowed).exp()
    if not bool((p.sum(1) - 1).abs().max() < 1e-6) or bool(p[:, -1].any()):
        raise ContractError("probabilities of the candidates must be finite and sum to 1: give logits of every class")


OUTPUTS = (
    ModelCheck("attributes", "n_classes, specials, parameters and capabilities are those of the task", _attributes),
    ModelCheck("logits", "logits are floats [batch, class] on the device of the batch", _logits),
    ModelCheck("finite", "logits are finite for every text, one word alone and no word at all", _finite),
    ModelCheck("embedding", "embed gives floats [batch, token, dim]", _embedding),
    ModelCheck("embedded", "forward reads `embedded` instead of the ids, and none of it on padding", _embedded),
    ModelCheck("batch-size", "a text has the same logits in batches of 1, 2, 7 and all texts", _any_batch_size),
    ModelCheck("extra-padding", "padding changes nothing", _extra_padding),
    ModelCheck("content-of-padding", "what stands on the padding changes nothing", _content_of_padding),
    ModelCheck("deterministic", "in eval mode nothing is drawn and nothing changes", _deterministic),
    ModelCheck("words", "the words of a text play a part", _words),
    ModelCheck("query", "the words of a query play a part", _query),
    ModelCheck("candidates", "logits of every class, whatever the candidates are", _candidates),
)
