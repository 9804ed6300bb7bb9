"""What an epoch of a training costs beside one of standard training, kept in the record of its model."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import torch

from faithboard.config import ModelConfig
from faithboard.plan import Plan, PlannedJob
from faithboard.records import ModelRecord
from faithboard.running.fitting import fresh_model
from faithboard.running.progress import Progress
from faithboard.running.provenance import provenance
from faithboard.running.recording import reason_of
from faithboard.store import Store
from faithboard.training import STANDARD
from faithboard.training.cost import training_cost


def measure_training_costs(plan: Plan, store: Store, device: torch.device, progress: Progress) -> list[str]:
    """Measure every training of a plan but the standard one, for each task and model, on the first seed.

    An epoch of standard training and one of the other follow each other on copies of one fresh model and on the same
    batches. Weights and keys stay as they are. Returns what failed, one sentence each: a procedure is anybody's code.
    """
    failures = []
    found = list(_trained(plan, store))
    if not found:
        progress.say("no cost to measure: no model here has another training than `standard` (see --training)")
    for job, config, record in found:
        try:
            cost = _beside_standard(job, config, device)
        except (Exception, SystemExit) as error:  # noqa: BLE001  whatever a procedure raises is its own failure
            failures.append(f"the cost of {job.title}: {reason_of(error)}")
            continue
        store.save_model(dataclasses.replace(record, training_cost=cost), None)
        slower, larger = (cost[name] / cost[f"standard_{name}"] for name in ("seconds", "memory_mb"))
        said = f"{slower:.1f} times the seconds and {larger:.1f} times the memory of standard training"
        progress.say(f"{job.title}: {said}")
    return failures


def _trained(plan: Plan, store: Store) -> Iterator[tuple[PlannedJob, ModelConfig, ModelRecord]]:
    """The jobs of the first seed that have another training than the standard one and a trained model."""
    for job in plan.jobs:
        if job.seed != plan.suite.seeds[0] or job.procedure.name == STANDARD.name:
            continue
        record = store.model(job.key)
        if isinstance(job.model, ModelConfig) and record is not None and record.status == "ok":
            yield job, job.model, record


def _beside_standard(job: PlannedJob, config: ModelConfig, device: torch.device) -> dict[str, Any]:
    """See `ModelRecord.training_cost`."""
    data = job.prepared.data
    model = fresh_model(config, data, job.seed)[0].to(device)
    costs = training_cost(model, data, job.training, (STANDARD, job.procedure))
    own, standard = costs[job.procedure.name], costs[STANDARD.name]
    return provenance(device) | {
        "seconds": own.seconds_per_epoch,
        "memory_mb": own.memory_mb,
        "standard_seconds": standard.seconds_per_epoch,
        "standard_memory_mb": standard.memory_mb,
    }
