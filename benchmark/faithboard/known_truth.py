"""Whether a model really uses the shortcut planted for it: known truth counts only then (definitions, section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.buckets import token_batches, token_budget
from faithboard.classifier import Classifier, predict
from faithboard.data.collate import collate, rationale_mask
from faithboard.data.vocabulary import Vocabulary
from faithboard.errors import DataError

if TYPE_CHECKING:
    from jaxtyping import Bool, Int

    from faithboard.data import TaskData

LEAST_ACCURACY = 0.99
MARGIN_OVER_CHANCE = 0.05
LEAST_FLIPS = 0.95


def verify_shortcut(model: Classifier, data: TaskData, split: str = "test") -> dict[str, float]:
    """Accuracy with and without the planted tokens, and how often swapping them moves the prediction along.

    `accuracy` must be at least 0.99; `accuracy-without`, the planted tokens deleted, at most 5 points over 1/C;
    `flip-rate`, the share of texts predicted as the class whose tokens stand in place of the planted ones, at least
    0.95. `verified` is 1.0 when all three hold, else 0.0. Raises DataError for a task that plants nothing or texts
    that do not mark what was planted.
    """
    examples, task = data.splits[split], data.task
    swap = _Swap(data)
    right = right_without = flipped = 0
    device = model.device
    lengths = torch.tensor([len(example.tokens) for example in examples])
    for rows in token_batches(lengths, token_budget(device)):
        chosen = [examples[row] for row in rows.tolist()]
        unmarked = next((example.id for example in chosen if not any(example.rationale or ())), None)
        if unmarked is not None:
            raise DataError(f"{task.name}: text {unmarked} does not mark what was planted in it")
        batch = collate(chosen, data.vocabulary, task, device)
        planted = rationale_mask(chosen, batch)
        labels = torch.tensor([example.label for example in chosen], device=device)
        swapped, other = swap(batch, planted, labels)
        right += int((predict(model, batch).argmax(1) == labels).sum())
        right_without += int((predict(model, batch.without(planted)).argmax(1) == labels).sum())
        flipped += int((predict(model, swapped).argmax(1) == other).sum())
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


class _Swap:
    """Puts the tokens planted for the next class in place of a text's own, in order."""

    def __init__(self, data: TaskData) -> None:
        task, vocabulary = data.task, data.vocabulary
        if set(task.planted) != set(task.labels):
            raise DataError(f"{task.name}: `planted` must name the tokens of every label, got {sorted(task.planted)}")
        if len({len(tokens) for tokens in task.planted.values()}) > 1:
            raise DataError(f"{task.name}: swapping needs as many planted tokens for each label")
        self._ids = torch.tensor([_ids(task.planted[label], vocabulary) for label in task.labels])

    def __call__(
        self, batch: Batch, planted: Bool[Tensor, "batch token"], labels: Int[Tensor, "batch"]
    ) -> tuple[Batch, Int[Tensor, "batch"]]:
        """The swapped texts and the class each now belongs to."""
        classes, each = self._ids.shape
        if bool((planted.sum(1) != each).any()):
            raise DataError(f"a text marks another number of planted tokens than the task's {each}")
        other = (labels + 1) % classes
        replacement = batch.ids.masked_scatter(planted, self._ids.to(batch.device)[other])
        return batch.replaced(planted, replacement), other


def _ids(words: tuple[str, ...], vocabulary: Vocabulary) -> list[int]:
    unknown = [word for word in words if vocabulary.id(word) == vocabulary.specials.unk]
    if unknown:
        raise DataError(f"planted words that are not in the vocabulary: {', '.join(unknown)}")
    return vocabulary.ids(words)
