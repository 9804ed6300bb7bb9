"""The training loop: epochs over shuffled batches, the best dev epoch kept (Jain & Wallace 2019).

Whatever is drawn in an epoch comes from the seed and the number of the epoch, never from what was drawn before it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.config import TrainingConfig
from faithboard.data.encoded import Encoded
from faithboard.errors import DataError, FaithboardError
from faithboard.models.seeding import seeded
from faithboard.performance import encoded_probabilities, measure
from faithboard.rng import Rng, seed_of
from faithboard.task import Task
from faithboard.training.batches import shuffled

if TYPE_CHECKING:
    from jaxtyping import Float, Int

    from faithboard.data import TaskData


class Procedure(Protocol):
    """What a training procedure is: the loss of one batch."""

    def __call__(self, model: Classifier, batch: Batch, labels: Int[Tensor, "batch"], rng: Rng) -> Float[Tensor, ""]:
        """The loss to minimise. The model is in training mode; everything random comes from `rng`."""


@dataclass(frozen=True)
class Trained:
    """How a training went. The model itself holds the weights of the best epoch."""

    history: list[dict[str, float]]
    """One entry per epoch: `epoch` (from 1), `loss` (mean per text), the dev measure that selects, `seconds`."""
    best_epoch: int
    seconds: float


@dataclass
class _Best:
    epoch: int
    score: float
    weights: dict[str, Tensor]


def fit(
    model: Classifier,
    data: TaskData,
    config: TrainingConfig,
    loss_of: Procedure,
    seed: int,
    progress: Callable[[int, int, dict[str, float]], None] | None = None,
) -> Trained:
    """Minimise `loss_of` over the train split and leave the best dev epoch's weights, in eval mode.

    Raises DataError for a split it cannot use, FaithboardError when the loss is not finite.
    """
    started = time.perf_counter()
    texts, dev = (_encoded(data, split) for split in ("train", "dev"))
    optimiser = _optimiser(model, data.task, config)
    history: list[dict[str, float]] = []
    best: _Best | None = None
    try:
        for epoch in range(1, config.epochs + 1):
            epoch_started = time.perf_counter()
            loss = _epoch(model, texts, loss_of, optimiser, config, seed, epoch)
            score = _dev_score(model, dev, data.task, config.select)
            seconds = time.perf_counter() - epoch_started
            history.append({"epoch": epoch, "loss": loss, f"dev-{config.select}": score, "seconds": seconds})
            if best is None or score > best.score:
                best = _Best(epoch, score, {k: v.detach().clone() for k, v in model.state_dict().items()})
            if progress is not None:
                progress(epoch, config.epochs, history[-1])
            # Ties go to the earlier epoch, so none can replace a perfect one.
            if best.score >= 1.0 or (config.patience is not None and epoch - best.epoch >= config.patience):
                break
    finally:
        model.eval()
    assert best is not None, "settings are checked to ask for at least one epoch"
    model.load_state_dict(best.weights)
    return Trained(history, best.epoch, time.perf_counter() - started)


def _epoch(
    model: Classifier,
    texts: Encoded,
    loss_of: Procedure,
    optimiser: torch.optim.Optimizer,
    config: TrainingConfig,
    seed: int,
    epoch: int,
) -> float:
    """One pass over the training texts; the mean loss per text."""
    device = model.device
    order = torch.Generator().manual_seed(seed_of(seed, "order", epoch))
    total = 0.0
    model.train()
    with seeded(seed, "dropout", epoch, device=device):
        for step, rows in enumerate(shuffled(texts.lengths, config.batch_size, order), start=1):
            batch, labels = texts.batch(rows).to(device), texts.labels[rows].to(device)
            optimiser.zero_grad(set_to_none=True)
            loss = loss_of(model, batch, labels, Rng(seed_of(seed, "procedure", epoch), batch))
            value = loss.item()
            if not math.isfinite(value):
                raise FaithboardError(
                    f"the loss is {value} in epoch {epoch}, step {step}, at learning rate {config.learning_rate:g} "
                    f"(seed {seed}); a lower learning_rate usually mends it"
                )
            loss.backward()
            optimiser.step()
            total += value * (1 if config.loss_reduction == "sum" else len(rows))
    return total / len(texts)


def _dev_score(model: Classifier, dev: Encoded, task: Task, select: str) -> float:
    model.eval()
    measures = measure(encoded_probabilities(model, dev, model.device), dev.labels.numpy(), task)
    if select not in measures:
        raise DataError(f"{task.name}: the dev split has one class alone, so {select} cannot pick an epoch")
    return measures[select]


def _optimiser(model: Classifier, task: Task, config: TrainingConfig) -> torch.optim.Optimizer:
    """Adam; without weight decay on the attention, the module of that name, except in question answering."""
    named = list(model.named_parameters())
    spared = [] if task.layout == "pair" else [value for name, value in named if name.startswith("attention.")]
    decayed = [value for _, value in named if all(value is not one for one in spared)]
    groups: list[dict[str, Any]] = [{"params": decayed}, {"params": spared, "weight_decay": 0.0}]
    return torch.optim.Adam(
        groups,
        lr=config.learning_rate,
        weight_decay=config.weight_decay,
        amsgrad=config.amsgrad,
        # One pass over each parameter instead of a dozen: with large vocabularies most of a step is spent here.
        fused=True,
    )


def _encoded(data: TaskData, split: str) -> Encoded:
    if not data.splits[split]:
        raise DataError(f"{data.task.name}: the {split} split is empty, so nothing can be trained")
    return Encoded.of(data.splits[split], data.vocabulary, data.task)
