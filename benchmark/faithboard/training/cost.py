"""What a training costs beside another: seconds and memory, measured in one run on one machine."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from faithboard.classifier import Classifier
from faithboard.config import TrainingConfig
from faithboard.models.seeding import seeded
from faithboard.training import Training, procedure_of, train
from faithboard.training.loop import batch_loss, encoded

if TYPE_CHECKING:
    from faithboard.data import TaskData


@dataclass(frozen=True)
class Cost:
    """Of one training."""

    seconds_per_epoch: float
    """Training and the dev measure; of the fastest epoch, since others on the machine only add to it."""
    memory_mb: float
    """See `step_memory`."""


def training_cost(
    model: Classifier,
    data: TaskData,
    config: TrainingConfig,
    trainings: Iterable[Training],
    *,
    rounds: int = 1,
) -> dict[str, Cost]:
    """The cost of each training by name, on copies of `model`: an epoch of each in turn, `rounds` times."""
    trainings = list(trainings)
    seconds: dict[str, list[float]] = {one.name: [] for one in trainings}
    memory = {}
    for _ in range(rounds):
        for one in trainings:
            settings = replace(config, procedure=one.name, epochs=1)
            seconds[one.name].append(train(copy.deepcopy(model), data, settings, 0, one).seconds)
    for one in trainings:
        memory[one.name] = step_memory(copy.deepcopy(model), data, replace(config, procedure=one.name), one)
    return {name: Cost(min(every), memory[name]) for name, every in seconds.items()}


def step_memory(model: Classifier, data: TaskData, config: TrainingConfig, training: Training) -> float:
    """Most MiB that autograd holds at once for backward passes in a step on the batch of the longest training texts.

    That is what trainings differ in; weights, gradients and optimiser take the same in all of them. It is counted, not
    sampled, so it is the same on every run of a machine. Gradients of the model are cleared afterwards.
    """
    texts = encoded(data, "train")
    rows = texts.lengths.argsort(descending=True, stable=True)[: config.batch_size]
    held = _Held(model)
    training_mode = model.training
    model.train()
    try:
        with seeded("memory", device=model.device), held.counting():
            batch_loss(model, texts, rows, procedure_of(training, data, config), config, 0, 1).backward()
    finally:
        model.zero_grad(set_to_none=True)
        model.train(training_mode)
    return held.most / 2**20


class _Held:
    """Counts the bytes of the distinct storages that graphs hold, the model's own parameters apart."""

    def __init__(self, model: Classifier) -> None:
        self._own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
        self._uses: dict[int, int] = {}
        self._now = 0
        self.most = 0

    def counting(self) -> torch.autograd.graph.saved_tensors_hooks:
        """A context in which everything that is saved for a backward pass is counted until it is let go."""
        return torch.autograd.graph.saved_tensors_hooks(lambda tensor: _Saved(tensor, self), lambda saved: saved.tensor)

    def hold(self, storage: int, size: int) -> None:
        self._uses[storage] = self._uses.get(storage, 0) + 1
        if self._uses[storage] == 1 and storage not in self._own:
            self._now += size
            self.most = max(self.most, self._now)

    def release(self, storage: int, size: int) -> None:
        self._uses[storage] -= 1
        if self._uses[storage] == 0:
            del self._uses[storage]
            self._now -= 0 if storage in self._own else size


class _Saved:
    """A tensor that a graph holds; it lives as long as the graph does."""

    def __init__(self, tensor: Tensor, held: _Held) -> None:
        self.tensor = tensor
        storage = tensor.untyped_storage()
        self._held, self._place = held, (storage.data_ptr(), storage.nbytes())
        held.hold(*self._place)

    def __del__(self) -> None:
        self._held.release(*self._place)
