"""Training of models. A procedure is the loss of a batch; the loop around it is the same for all."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from faithboard.classifier import Classifier
from faithboard.config import LAST, TrainingConfig
from faithboard.errors import SuiteError, near
from faithboard.task import Task
from faithboard.training.definition import Procedure, Training
from faithboard.training.deletion import WORD_DELETION
from faithboard.training.drawing import drawn
from faithboard.training.labels import RANDOM_LABELS
from faithboard.training.loop import Checkpoint, Trained, fit
from faithboard.training.masking import FILLS, RANDOM_MASKING, SALIENCY_GUIDED
from faithboard.training.standard import STANDARD
from faithboard.training.supervised import CrossEntropy

if TYPE_CHECKING:
    from faithboard.data import TaskData

__all__ = [
    "BUILTIN",
    "RANDOM_LABELS",
    "RANDOM_MASKING",
    "SALIENCY_GUIDED",
    "STANDARD",
    "WORD_DELETION",
    "Checkpoint",
    "CrossEntropy",
    "Procedure",
    "Trained",
    "Training",
    "check_training",
    "procedure_of",
    "train",
]

BUILTIN = (STANDARD, SALIENCY_GUIDED, RANDOM_MASKING, WORD_DELETION, RANDOM_LABELS)

_CHOICES = {
    "loss_reduction": ("sum", "mean"),
    "select": ("roc-auc", "accuracy", LAST),
    "precision": ("float32", "bfloat16"),
    "mask_fill": FILLS,
}


def check_training(config: TrainingConfig, task: Task, training: Training) -> None:
    """Raise SuiteError for settings that do not exist or make no sense on `task`. Trains nothing."""
    used = training.used(config)
    for setting, choices in _CHOICES.items():
        if setting in used and used[setting] not in choices:
            raise SuiteError(f"{setting} must be one of {', '.join(choices)}, got {used[setting]!r}")
    if config.select == "roc-auc" and not task.binary:
        raise SuiteError(
            f"{task.name} has {len(task.labels)} classes and roc-auc needs two; set select = 'accuracy' in its profile"
        )
    for setting in ("epochs", "batch_size", "patience", "train_examples"):
        value = getattr(config, setting)
        if value is not None and value < 1:
            raise SuiteError(f"{setting} must be at least 1, got {value}")
    if not 0 < config.learning_rate < math.inf:
        raise SuiteError(f"learning_rate must be above 0, got {config.learning_rate}")
    if not 0 <= config.weight_decay < math.inf:
        raise SuiteError(f"weight_decay must be at least 0, got {config.weight_decay}")
    if "mask_share" in used and not 0 < config.mask_share < 1:
        raise SuiteError(
            f"mask_share must lie between 0 and 1, got {config.mask_share}: nothing masked is the training `standard`, "
            "and where all words are masked nothing is left to be explained"
        )
    if "mask_weight" in used and not 0 < config.mask_weight < math.inf:
        raise SuiteError(f"mask_weight must be above 0, got {config.mask_weight}: 0 is the training `standard`")


def procedure_of(training: Training, data: TaskData, config: TrainingConfig) -> Procedure:
    """The procedure of one run on the train split of `data`."""
    labels = [example.label for example in data.splits["train"]]
    return training.procedure(CrossEntropy.of(config, labels, len(data.task.labels)), config, data.vocabulary)


def train(
    model: Classifier,
    data: TaskData,
    config: TrainingConfig,
    seed: int,
    training: Training | None = None,
    *,
    resume: Checkpoint | None = None,
    save: Callable[[Checkpoint], None] | None = None,
    progress: Callable[[int, int, dict[str, float]], None] | None = None,
) -> Trained:
    """Train `model` on its device, from the weights it has; it ends with those of the best dev epoch (or, with
    `select = "last"`, of the last one), in eval mode.

    `training` is the built-in one that `config` names unless it is given. On a CPU the same model, data, settings, seed
    and number of threads give the same bytes. The global random state is left as it was. `save` is called after each
    epoch with its state; a later call that gets it as `resume` goes on from there and ends with the same bytes.
    `progress` is called after each epoch with (epoch, epochs, its entry of the history).

    Raises SuiteError for settings that make no sense, DataError for an unusable split, ContractError for a procedure
    that gives no loss and FaithboardError for a loss that is not finite.
    """
    if training is None:
        known = {one.name: one for one in BUILTIN}
        if config.procedure not in known:
            raise SuiteError(f"unknown training {config.procedure!r}; {near(config.procedure, known)}")
        training = known[config.procedure]
    check_training(config, data.task, training)
    texts = drawn(data.splits["train"], config.train_examples, seed)
    if training.texts is not None:
        texts = training.texts(texts, seed)
    data = replace(data, splits={**data.splits, "train": texts})
    loss_of = procedure_of(training, data, config)
    return fit(model, data, config, loss_of, seed, resume=resume, save=save, progress=progress)
