"""Training of models. A procedure is the loss of a batch; the loop around it is the same for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from faithboard.classifier import Classifier
from faithboard.config import TrainingConfig
from faithboard.errors import SuiteError, near
from faithboard.task import Task
from faithboard.training.loop import Procedure, Trained, fit
from faithboard.training.standard import CrossEntropy, Standard

if TYPE_CHECKING:
    from faithboard.data import TaskData

__all__ = ["PROCEDURES", "CrossEntropy", "Procedure", "Trained", "check_training", "train"]

PROCEDURES: Mapping[str, Callable[[CrossEntropy], Procedure]] = {"standard": Standard}
"""name -> procedure around the supervised loss of the task."""


def check_training(config: TrainingConfig, task: Task) -> None:
    """Raise SuiteError for settings that do not exist or make no sense on `task`. Trains nothing."""
    if config.procedure not in PROCEDURES:
        raise SuiteError(f"unknown training {config.procedure!r}; {near(config.procedure, PROCEDURES)}")
    if config.loss_reduction not in ("sum", "mean"):
        raise SuiteError(f"loss_reduction must be `sum` or `mean`, got {config.loss_reduction!r}")
    if config.select not in ("roc-auc", "accuracy"):
        raise SuiteError(f"select must be `roc-auc` or `accuracy`, got {config.select!r}")
    if config.select == "roc-auc" and not task.binary:
        raise SuiteError(
            f"{task.name} has {len(task.labels)} classes and roc-auc needs two; set select = 'accuracy' in its profile"
        )
    for setting in ("epochs", "batch_size", "patience"):
        value = getattr(config, setting)
        if value is not None and value < 1:
            raise SuiteError(f"{setting} must be at least 1, got {value}")


def train(
    model: Classifier,
    data: TaskData,
    config: TrainingConfig,
    seed: int,
    *,
    progress: Callable[[int, int, dict[str, float]], None] | None = None,
) -> Trained:
    """Train `model` on its device, from the weights it has; it ends with those of the best dev epoch, in eval mode.

    On a CPU the same model, data, settings, seed and number of threads give the same bytes. The global random state is
    left as it was. `progress` is called after each epoch with (epoch, epochs, its entry of the history). Raises
    SuiteError for settings that make no sense, DataError for an unusable split and FaithboardError for a loss that is
    not finite.
    """
    check_training(config, data.task)
    supervised = CrossEntropy.of(config, [example.label for example in data.splits["train"]], model.n_classes)
    return fit(model, data, config, PROCEDURES[config.procedure](supervised), seed, progress)
