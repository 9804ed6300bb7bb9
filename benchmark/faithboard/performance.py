"""How well a model does its task: predictions of a whole split, the usual measures, and the accuracy gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.stats import rankdata

from faithboard.buckets import token_batches, token_budget
from faithboard.classifier import Classifier, predict
from faithboard.data.encoded import Encoded
from faithboard.task import Example, Task

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int

    from faithboard.data import TaskData

RESAMPLES = 10_000
"""Bootstrap resamples behind the gate."""


def probabilities(
    model: Classifier, examples: Sequence[Example], data: TaskData, device: torch.device | str
) -> Float64[np.ndarray, "example class"]:
    """Probabilities of every example, in the order given. The model stays in the mode it is in."""
    return encoded_probabilities(model, Encoded.of(examples, data.vocabulary, data.task), device)


def encoded_probabilities(
    model: Classifier, texts: Encoded, device: torch.device | str
) -> Float64[np.ndarray, "text class"]:
    """Probabilities of texts that are encoded already, in their order."""
    result = np.empty((len(texts), model.n_classes))
    for rows in token_batches(texts.lengths, token_budget(torch.device(device))):
        result[rows.numpy()] = predict(model, texts.batch(rows).to(device)).cpu().numpy()
    return result


def reads_query(task: Task) -> bool:
    """Whether a model of `task` reads a query beside the text that is explained."""
    return task.layout != "single" and task.explained == ("text",)


def without_text(
    model: Classifier, examples: Sequence[Example], data: TaskData, device: torch.device | str
) -> Float64[np.ndarray, "example class"]:
    """Probabilities with every scorable token deleted: p(empty), where `reads_query` holds that of the query alone.

    Candidates stay those of the full input.
    """
    texts = Encoded.of(examples, data.vocabulary, data.task)
    result = np.empty((len(texts), model.n_classes))
    for rows in token_batches(texts.lengths, token_budget(torch.device(device))):
        batch = texts.batch(rows)
        result[rows.numpy()] = predict(model, batch.without(batch.scorable).to(device)).cpu().numpy()
    return result


def measure(
    probabilities: Float64[np.ndarray, "example class"], labels: Sequence[int] | Int[np.ndarray, "example"], task: Task
) -> dict[str, float]:
    """`accuracy`, `balanced-accuracy` and `f1-weighted`; for two classes also `f1-positive` and `roc-auc`.

    All are shares in [0, 1]. A measure that is not defined on these labels (the ROC of a single class) is left out.
    """
    gold = np.asarray(labels)
    predicted = probabilities.argmax(1)
    f1, support = _f1(predicted, gold, len(task.labels))
    result = {
        "accuracy": float((predicted == gold).mean()),
        "balanced-accuracy": _balanced_accuracy(predicted == gold, gold),
        "f1-weighted": float((f1 * support).sum() / support.sum()),
    }
    if task.binary:
        result["f1-positive"] = float(f1[1])
        if support.all():
            result["roc-auc"] = _roc_auc(probabilities[:, 1], gold == 1)
    return result


@dataclass(frozen=True)
class Gate:
    """Whether a model is good enough for explanations of it to be ranked (definitions, section 6)."""

    passed: bool
    bound: float
    """One-sided 95 % bootstrap bound of the measure, from below."""
    threshold: float
    """What `bound` must exceed."""


def gate(
    probabilities: Float64[np.ndarray, "example class"],
    labels: Sequence[int] | Int[np.ndarray, "example"],
    task: Task,
    seed: int,
) -> Gate:
    """The accuracy gate on a full test split.

    Balanced accuracy must exceed 1/C; where the answer is chosen among candidates, accuracy must exceed that of always
    giving the split's most frequent answer. Classes without an example in the split do not count in C.
    """
    gold = np.asarray(labels)
    correct = probabilities.argmax(1) == gold
    n = len(gold)
    _, group = np.unique(gold, return_inverse=True)
    support = np.bincount(group)
    generator = np.random.default_rng(seed)
    if task.chooses_candidates:
        resampled = generator.binomial(n, correct.mean(), RESAMPLES) / n
        threshold = float(support.max() / n)
    else:
        # A resample of examples is, for this measure, a draw of how many fall into each (class, right or wrong) cell.
        right = np.bincount(group, weights=correct)
        cells = generator.multinomial(n, np.concatenate([right, support - right]) / n, RESAMPLES)
        hits, misses = np.split(cells, 2, axis=1)
        present = hits + misses > 0
        recall = np.divide(hits, hits + misses, out=np.zeros(hits.shape), where=present)
        resampled = recall.sum(1) / present.sum(1)
        threshold = 1 / len(support)
    bound = float(np.quantile(resampled, 0.05))
    return Gate(bound > threshold, bound, threshold)


def _balanced_accuracy(correct: Bool[np.ndarray, "example"], gold: Int[np.ndarray, "example"]) -> float:
    """Mean recall over the classes that occur."""
    return float(np.mean([correct[gold == label].mean() for label in np.unique(gold)]))


def _f1(
    predicted: Int[np.ndarray, "example"], gold: Int[np.ndarray, "example"], classes: int
) -> tuple[Float64[np.ndarray, "class"], Int[np.ndarray, "class"]]:
    """F1 of each class, 0 where it is neither predicted nor there, and the number of examples of each class."""
    support = np.bincount(gold, minlength=classes)
    guessed = np.bincount(predicted, minlength=classes)
    hits = np.bincount(gold[predicted == gold], minlength=classes)
    return 2 * hits / np.maximum(support + guessed, 1), support


def _roc_auc(score: Float64[np.ndarray, "example"], positive: Bool[np.ndarray, "example"]) -> float:
    """Area under the ROC curve from the rank sum (Mann & Whitney 1947); tied scores share their mean rank."""
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    rank_sum = rankdata(score)[positive].sum()
    return float((rank_sum - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))
