"""The training loop: epochs over shuffled batches, the best dev epoch kept (Jain & Wallace 2019), or the last one.

Whatever is drawn in an epoch comes from the seed and the number of the epoch, never from what was drawn before it. So
the state after an epoch is weights, optimiser and history alone, and a training that goes on from there ends as if it
had never stopped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor

from faithboard.classifier import Classifier
from faithboard.config import LAST, TrainingConfig
from faithboard.data.encoded import Encoded
from faithboard.errors import ContractError, DataError, FaithboardError
from faithboard.models.seeding import seeded
from faithboard.performance import encoded_probabilities, measure
from faithboard.rng import Rng, seed_of
from faithboard.task import Task
from faithboard.training.batches import shuffled
from faithboard.training.definition import Procedure

if TYPE_CHECKING:
    from faithboard.data import TaskData

ACCURACY = "accuracy"
"""The dev measure that every epoch has."""

Checkpoint = Mapping[str, Any]
"""State after an epoch, of tensors and plain values: `history`, `best`, `weights`, `optimiser`."""


@dataclass(frozen=True)
class Trained:
    """How a training went. The model itself holds the weights of the best epoch."""

    history: list[dict[str, float]]
    """One entry per epoch: `epoch` (from 1), `loss` (mean per text), `dev-accuracy`, the dev measure that selects where
    that is another one, `seconds`."""
    best_epoch: int
    """The one whose weights are kept: the last with `select = "last"`."""

    @property
    def seconds(self) -> float:
        """Of all epochs, those before a kill included."""
        return math.fsum(entry["seconds"] for entry in self.history)


@dataclass
class _Course:
    """What a training has behind it."""

    history: list[dict[str, float]] = field(default_factory=list)
    best_epoch: int = 0
    best_score: float = -math.inf
    best_weights: dict[str, Tensor] = field(default_factory=dict)
    last: bool = False
    """Every epoch counts as better than those before it."""

    @classmethod
    def resumed(cls, checkpoint: Checkpoint, *, last: bool) -> Self:
        return cls(list(checkpoint["history"]), **checkpoint["best"], last=last)

    def checkpoint(self, model: Classifier, optimiser: torch.optim.Optimizer) -> Checkpoint:
        best = {"best_epoch": self.best_epoch, "best_score": self.best_score, "best_weights": self.best_weights}
        return {
            "history": self.history,
            "best": best,
            "weights": model.state_dict(),
            "optimiser": optimiser.state_dict(),
        }

    def add(self, entry: dict[str, float], score: float, model: Classifier) -> None:
        self.history.append(entry)
        if score > self.best_score or self.last:
            self.best_epoch, self.best_score = len(self.history), score
            self.best_weights = {name: value.detach().clone() for name, value in model.state_dict().items()}

    def over(self, config: TrainingConfig) -> bool:
        done = len(self.history)
        if self.last:
            return done >= config.epochs
        # A tie leaves the earlier epoch the best, so none can replace a perfect one.
        return (
            done >= config.epochs
            or self.best_score >= 1.0
            or (config.patience is not None and done - self.best_epoch >= config.patience)
        )


def fit(
    model: Classifier,
    data: TaskData,
    config: TrainingConfig,
    loss_of: Procedure,
    seed: int,
    *,
    resume: Checkpoint | None = None,
    save: Callable[[Checkpoint], None] | None = None,
    progress: Callable[[int, int, dict[str, float]], None] | None = None,
) -> Trained:
    """Minimise `loss_of` over the train split and leave the weights of the epoch that `select` keeps, in eval mode.

    Raises DataError for a split it cannot use, ContractError for a loss that is no differentiable scalar and
    FaithboardError for one that is not finite, or for mixed precision on a CPU that has none.
    """
    if config.precision == "bfloat16" and not has_bfloat16(model.device):
        raise FaithboardError(
            "precision = 'bfloat16' needs a processor with bfloat16 arithmetic, and this CPU has none; leave it at "
            "'float32' or train on another device"
        )
    texts, dev = (encoded(data, split) for split in ("train", "dev"))
    optimiser = _optimiser(model, data.task, config)
    last = config.select == LAST
    selecting = ACCURACY if last else config.select
    course = _Course(last=last)
    if resume is not None:
        course = _Course.resumed(resume, last=last)
        model.load_state_dict(resume["weights"])
        optimiser.load_state_dict(resume["optimiser"])
    try:
        while not course.over(config):
            epoch = len(course.history) + 1
            started = time.perf_counter()
            loss = _epoch(model, texts, loss_of, optimiser, config, seed, epoch)
            scores = _dev_scores(model, dev, data.task, (ACCURACY, selecting))
            seconds = time.perf_counter() - started
            shown = {f"dev-{name}": score for name, score in scores.items()}
            entry = {"epoch": epoch, "loss": loss, **shown, "seconds": seconds}
            course.add(entry, scores[selecting], model)
            if save is not None:
                save(course.checkpoint(model, optimiser))
            if progress is not None:
                progress(epoch, config.epochs, entry)
    finally:
        model.eval()
    model.load_state_dict(course.best_weights)
    return Trained(course.history, course.best_epoch)


def has_bfloat16(device: torch.device) -> bool:
    """Whether a device can run the passes of training in bfloat16: a CPU without it has no such recurrent layer."""
    return device.type != "cpu" or (
        torch.backends.mkldnn.is_available() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    )


def encoded(data: TaskData, split: str) -> Encoded:
    """The texts of a split. Raises DataError when there are none."""
    if not data.splits[split]:
        raise DataError(f"{data.task.name}: the {split} split is empty, so nothing can be trained")
    return Encoded.of(data.splits[split], data.vocabulary, data.task)


def batch_loss(
    model: Classifier,
    texts: Encoded,
    rows: Tensor,
    loss_of: Procedure,
    config: TrainingConfig,
    seed: int,
    epoch: int,
) -> Tensor:
    """The loss of the texts at `rows` in an epoch. Raises ContractError when it is no differentiable scalar."""
    device = model.device
    batch, labels = texts.batch(rows).to(device), texts.labels[rows].to(device)
    rng = Rng(seed_of(seed, "procedure", epoch), batch)
    with torch.autocast(device.type, torch.bfloat16, enabled=config.precision == "bfloat16"):
        loss = loss_of(model, batch, labels, rng)
    if not isinstance(loss, Tensor) or loss.shape != () or not loss.requires_grad:
        found = f"a tensor of shape {tuple(loss.shape)}" if isinstance(loss, Tensor) else f"a {type(loss).__name__}"
        raise ContractError(
            f"training {config.procedure}: the loss of a batch must be a scalar tensor that depends on the weights, "
            f"got {found}"
        )
    return loss


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
    order = torch.Generator().manual_seed(seed_of(seed, "order", epoch))
    total = 0.0
    model.train()
    with seeded(seed, "dropout", epoch, device=model.device):
        for step, rows in enumerate(shuffled(texts.lengths, config.batch_size, order), start=1):
            optimiser.zero_grad(set_to_none=True)
            loss = batch_loss(model, texts, rows, loss_of, config, seed, epoch)
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


def _dev_scores(model: Classifier, dev: Encoded, task: Task, wanted: Sequence[str]) -> dict[str, float]:
    """The measures of those names on the dev split."""
    model.eval()
    measures = measure(encoded_probabilities(model, dev, model.device), dev.labels.numpy(), task)
    for name in wanted:
        if name not in measures:
            raise DataError(f"{task.name}: the dev split has one class alone, so {name} cannot pick an epoch")
    return {name: measures[name] for name in wanted}


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
