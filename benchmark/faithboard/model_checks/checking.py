"""A person's own model made for a task, and tried against every rule on texts of it."""

from __future__ import annotations

import torch

from faithboard.conformance.check import Finding
from faithboard.data import TaskData, sample
from faithboard.data.collate import collate
from faithboard.errors import ContractError
from faithboard.model_checks import check_model
from faithboard.running.submitted import made
from faithboard.submitted import ModelDefinition

TEXTS = 64
"""Test texts that a model is tried on: enough for all batch sizes."""
MADE = "made"
"""Name of the check that a model can be made at all; without it there is nothing to try."""


def judged_model(definition: ModelDefinition, data: TaskData, device: torch.device, seed: int = 0) -> list[Finding]:
    """Make the model of a definition for a task, training it if it trains, and run every check. Raises nothing."""
    rule = "its function returns a Classifier that fits the task"
    try:
        model = made(definition, data, seed, device)
    except ContractError as error:
        return [Finding(MADE, rule, "failed", str(error))]
    batch = collate(sample(data, "test", TEXTS), data.vocabulary, data.task, device)
    return [Finding(MADE, rule, "passed"), *check_model(model, batch)]
