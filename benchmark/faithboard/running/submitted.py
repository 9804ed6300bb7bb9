"""Make a person's own model for a job: its function is called, and what it returns is looked at before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from faithboard.classifier import Classifier
from faithboard.data.collate import collate
from faithboard.errors import ContractError, FaithboardError
from faithboard.importing import shortened
from faithboard.model_checks import require_fit
from faithboard.models.seeding import seeded
from faithboard.running.copies import copied
from faithboard.submitted import ModelDefinition, TaskTexts

if TYPE_CHECKING:
    from faithboard.data import TaskData

TRIED = 16
"""Training texts that a fresh model is asked about before anything else is done with it."""


def made(
    definition: ModelDefinition, data: TaskData, seed: int, device: torch.device, *, stored: bool = False
) -> Classifier:
    """The model of a definition on a task, in eval mode on `device`. The global random state is left as it was.

    Raises ContractError for whatever its function raises, and for a model that does not fit the task.
    """
    try:
        with seeded(seed, "submitted model", device=device), torch.enable_grad():
            model = definition.build(TaskTexts.of(data, seed, device, stored=stored))
    except (Exception, SystemExit) as error:
        reason = str(error) if isinstance(error, FaithboardError) else f"\n{shortened(error)}"
        raise ContractError(f"model {definition.name}: making it raised {reason}") from error
    if not isinstance(model, Classifier):
        raise ContractError(
            f"model {definition.name}: its function must return a Classifier, not a {type(model).__name__}"
        )
    model = model.to(device).eval().requires_grad_(True)
    if model.n_classes != len(data.task.labels):
        raise ContractError(
            f"model {definition.name}: it has {model.n_classes} classes, {data.task.name} has {len(data.task.labels)}"
        )
    batch = collate(data.splits["train"][:TRIED], data.vocabulary, data.task, device)
    try:
        require_fit(model, batch)
        copied(model)
    except ContractError as error:
        raise ContractError(f"model {definition.name} on {data.task.name}: {error}") from error
    lacking = definition.able(model.n_classes) - model.capabilities
    if lacking:
        raise ContractError(
            f"model {definition.name}: it was announced with {', '.join(sorted(lacking))}, but its `capabilities` are "
            f"{', '.join(sorted(model.capabilities)) or 'none'}"
        )
    return model
