"""How many words to mask: k is not published for text, so it is chosen by a rule (definitions, section 2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from faithboard.classifier import Classifier
from faithboard.config import TrainingConfig
from faithboard.performance import measure, probabilities
from faithboard.training import SALIENCY_GUIDED, STANDARD, Training, train

if TYPE_CHECKING:
    from faithboard.data import TaskData

SHARES = (0.1, 0.2, 0.3, 0.5)
"""Values of k that are tried."""
MARGIN = 0.01
"""How far dev accuracy may fall below that of standard training."""


@dataclass(frozen=True)
class Choice:
    """What the rule saw, and what it chose. No faithfulness metric takes part."""

    share: float | None
    """The largest k whose accuracy is within `MARGIN`; None when none is."""
    standard: float
    """Dev accuracy of standard training, mean over seeds."""
    accuracy: dict[float, float]
    """k -> the same with it."""


def choose_share(
    fresh: Callable[[int], Classifier],
    data: TaskData,
    config: TrainingConfig,
    seeds: Sequence[int],
    training: Training = SALIENCY_GUIDED,
    *,
    progress: Callable[[str, float], None] | None = None,
) -> Choice:
    """Train with every k of `SHARES` and choose by dev accuracy. `fresh` gives an untrained model for a seed.

    `progress` is called after each of the trainings with its title and accuracy.
    """

    def accuracy(title: str, settings: TrainingConfig, one: Training) -> float:
        mean = sum(_dev_accuracy(fresh(seed), data, settings, seed, one) for seed in seeds) / len(seeds)
        if progress is not None:
            progress(title, mean)
        return mean

    standard = accuracy("standard", replace(config, procedure="standard", init=None), STANDARD)
    guided = replace(config, procedure=training.name)
    found = {
        share: accuracy(f"{training.name}, k = {share}", replace(guided, mask_share=share), training)
        for share in SHARES
    }
    return Choice(chosen(standard, found), standard, found)


def chosen(standard: float, accuracy: dict[float, float]) -> float | None:
    """The largest k that costs at most `MARGIN` of accuracy."""
    # Accuracies are counts over n: without the small addition a loss of exactly the margin would be rounded over it.
    return max((k for k, reached in accuracy.items() if reached >= standard - MARGIN - 1e-9), default=None)


def _dev_accuracy(model: Classifier, data: TaskData, config: TrainingConfig, seed: int, training: Training) -> float:
    train(model, data, config, seed, training)
    dev = data.splits["dev"]
    return measure(probabilities(model, dev, data, model.device), [e.label for e in dev], data.task)["accuracy"]
