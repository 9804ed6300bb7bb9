"""Whether a model really uses the shortcut planted for it: known truth counts only then (definitions, section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress, permutations
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.buckets import token_batches, token_budget
from faithboard.classifier import Classifier, predict
from faithboard.data.collate import collate, rationale_mask
from faithboard.errors import DataError
from faithboard.task import Example, Task

if TYPE_CHECKING:
    from jaxtyping import Bool, Int

    from faithboard.data import TaskData

LEAST_ACCURACY = 0.99
MARGIN_OVER_CHANCE = 0.05
LEAST_FLIPS = 0.95


def verify_shortcut(model: Classifier, data: TaskData, split: str = "test") -> dict[str, float]:
    """Accuracy with and without the planted tokens, and how often swapping them moves the prediction along.

    `accuracy` must be at least 0.99; `accuracy-without`, the planted tokens deleted, at most 5 points over 1/C;
    `flip-rate`, the share of texts whose prediction follows every swap of the task (`Task.swaps`; else the tokens of
    the next label in place of a text's own), at least 0.95. `verified` is 1.0 when all three hold, else 0.0. Raises
    DataError for a task that plants nothing and texts that do not mark what was planted.
    """
    examples, task = data.splits[split], data.task
    swaps = _Swaps(data)
    right = right_without = flipped = 0
    device = model.device
    lengths = torch.tensor([len(example.tokens) for example in examples])
    for rows in token_batches(lengths, token_budget(device)):
        chosen = [examples[row] for row in rows.tolist()]
        batch = collate(chosen, data.vocabulary, task, device)
        planted = rationale_mask(chosen, batch)
        labels = torch.tensor([example.label for example in chosen], device=device)
        row, swapped, other = swaps(batch, chosen, planted)
        missed = row[predict(model, swapped).argmax(1) != other]
        right += int((predict(model, batch).argmax(1) == labels).sum())
        right_without += int((predict(model, batch.without(planted)).argmax(1) == labels).sum())
        flipped += len(chosen) - len(missed.unique())
    accuracy, without, flips = (count / len(examples) for count in (right, right_without, flipped))
    verified = (
        accuracy >= LEAST_ACCURACY and without <= 1 / len(task.labels) + MARGIN_OVER_CHANCE and flips >= LEAST_FLIPS
    )
    return {
        "accuracy": accuracy,
        "accuracy-without": without,
        "flip-rate": flips,
        "verified": float(verified),
    }


class _Swaps:
    """Every text with other tokens in place of the planted ones, once for each swap that the task has for them."""

    def __init__(self, data: TaskData) -> None:
        self._task, self._vocabulary = data.task, data.vocabulary
        self._swaps = data.task.swaps or _next_label(data.task)
        for planted, swaps in self._swaps.items():
            if not swaps or any(len(swap) != len(planted) for swap in swaps):
                raise DataError(
                    f"{data.task.name}: {' '.join(planted)} needs swaps of {len(planted)} tokens (an empty one takes "
                    "a token away)"
                )
        words = {word for planted, swaps in self._swaps.items() for swap in (planted, *swaps) for word in swap if word}
        unknown = sorted(word for word in words if data.vocabulary.id(word) == data.vocabulary.specials.unk)
        if unknown:
            raise DataError(f"planted words that are not in the vocabulary: {', '.join(unknown)}")

    def __call__(
        self, batch: Batch, examples: Sequence[Example], planted: Bool[Tensor, "batch token"]
    ) -> tuple[Int[Tensor, "swap"], Batch, Int[Tensor, "swap"]]:
        """The row of the batch that each swapped text comes from, the swapped texts, and the class of each."""
        found = [(row, swap) for row, example in enumerate(examples) for swap in self._of(example).items()]
        row = torch.tensor([row for row, _ in found], device=batch.device)
        words = [word for _, (swap, _) in found for word in swap]
        ids = torch.tensor(self._vocabulary.ids(words), device=batch.device)
        gone = torch.tensor([not word for word in words], device=batch.device)
        other = torch.tensor([self._task.labels.index(label) for _, (_, label) in found], device=batch.device)
        texts, places = batch.rows(row), planted[row]
        swapped = texts.replaced(places, texts.ids.masked_scatter(places, ids))
        return row, swapped.without(torch.zeros_like(places).masked_scatter(places, gone)), other

    def _of(self, example: Example) -> Mapping[tuple[str, ...], str]:
        """Raises DataError for a text that does not mark one of the task's plantings."""
        marked = tuple(compress(example.tokens, example.rationale or ()))
        if marked not in self._swaps:
            found = " ".join(marked) or "nothing"
            raise DataError(f"{self._task.name}: text {example.id} marks {found}, which is not what the task plants")
        return self._swaps[marked]


def _next_label(task: Task) -> dict[tuple[str, ...], dict[tuple[str, ...], str]]:
    """The tokens of each label, in any order, swapped for those of the next label."""
    if set(task.planted) != set(task.labels):
        raise DataError(f"{task.name}: `planted` must name the tokens of every label, got {sorted(task.planted)}")
    following = dict(zip(task.labels, (*task.labels[1:], task.labels[0]), strict=True))
    return {
        order: {task.planted[following[label]]: following[label]}
        for label, tokens in task.planted.items()
        for order in permutations(tokens)
    }
