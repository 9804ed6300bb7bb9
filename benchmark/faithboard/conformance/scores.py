"""Checks of the scores themselves: they fit, and they belong to the text whatever stands around it."""

from __future__ import annotations

import copy
from dataclasses import replace

import torch

from faithboard.attribution import Method
from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.conformance.check import SEED, Check, compare, scores_of
from faithboard.rng import Rng

_BATCH_SIZES = (1, 2, 7)
_BATCHES = 9
"""Batches of each size that are tried, spread over the texts."""


def _scores_fit(method: Method, model: Classifier, batch: Batch) -> None:
    # Calling the method checks shape, dtype, device and finite values, and names the first that is wrong.
    scores_of(method, model, batch)


def _any_batch_size(method: Method, model: Classifier, batch: Batch) -> None:
    whole = scores_of(method, model, batch)
    for size in _BATCH_SIZES:
        for start in range(0, len(batch), max(size, len(batch) // _BATCHES)):
            part = batch.rows(slice(start, start + size))
            expected = whole[start : start + size, : part.ids.shape[1]]
            compare(scores_of(method, model, part), expected, part, f"in batches of {size} instead of {len(batch)}")


def _any_order(method: Method, model: Classifier, batch: Batch) -> None:
    order = torch.arange(len(batch) - 1, -1, -1, device=batch.device)
    turned = batch.rows(order)
    compare(scores_of(method, model, turned), scores_of(method, model, batch)[order], turned, "with the texts reversed")


def _resumed(method: Method, model: Classifier, batch: Batch) -> None:
    half = len(batch) // 2
    first, second = batch.rows(slice(half)), batch.rows(slice(half, None))
    scores_of(method, model, first)
    expected = scores_of(method, model, second)
    # A run that was killed begins with the second half, on a model that was read from the disk again.
    again = copy.deepcopy(model)
    compare(scores_of(method, again, second), expected, second, "resumed after the first half of the texts")
    compare(scores_of(method, again, second), expected, second, "with the same texts once more")


def _extra_padding(method: Method, model: Classifier, batch: Batch) -> None:
    padded = batch.padded_to(batch.ids.shape[1] + 5)
    compare(scores_of(method, model, padded), scores_of(method, model, batch), batch, "with five more padding tokens")


def _content_of_padding(method: Method, model: Classifier, batch: Batch) -> None:
    padded = batch.padded_to(batch.ids.shape[1] + 2)
    word = batch.ids[batch.scorable][0]
    filled = replace(padded, ids=torch.where(padded.real, padded.ids, word))
    compare(scores_of(method, model, filled), scores_of(method, model, batch), batch, "with a word's id on the padding")


def _gold_label(method: Method, model: Classifier, batch: Batch) -> None:
    # A batch has no label in it; what is left of a way to one is its name. The rng stays that of the named texts.
    expected = scores_of(method, model, batch)
    renamed = replace(batch, example_id=tuple(f"nameless-{row}" for row in range(len(batch))))
    compare(method(model, renamed, Rng(SEED, batch)).scores, expected, batch, "with the texts under other names")


SCORES = (
    Check("scores-fit", "scores are finite floats [batch, token] on the device of the batch", _scores_fit),
    Check("batch-size", "a text has the same scores in batches of 1, 2, 7 and all texts", _any_batch_size),
    Check("order", "a text has the same scores wherever it stands in the batch", _any_order),
    Check("resume", "a text has the same scores after a resume as in an undisturbed run", _resumed),
    Check("extra-padding", "padding changes no score", _extra_padding),
    Check("content-of-padding", "what stands on the padding changes no score", _content_of_padding),
    Check("gold-label", "scores do not depend on the id of a text, by which its label could be looked up", _gold_label),
)
