"""What is recorded of a model: what it is made of, and what testing finds."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import torch

from faithboard.classifier import Classifier
from faithboard.errors import ContractError
from faithboard.known_truth import verify_shortcut
from faithboard.performance import gate, measure, probabilities, reads_query, without_text
from faithboard.plan import PlannedJob
from faithboard.records import ModelRecord
from faithboard.running.provenance import provenance
from faithboard.submitted import ModelDefinition
from faithboard.training.diagnostics import mean_bottom_half_mass


def untested(job: PlannedJob, device: torch.device) -> ModelRecord:
    """The record of a job's model before anything is known of its weights: what it is made of and from."""
    data = job.prepared.data
    return ModelRecord(
        key=job.key,
        task=data.task.name,
        task_version=data.task.version,
        fingerprint=data.fingerprint,
        fingerprint_name=data.fingerprint_name,
        family=data.task.family or "",
        model=job.model.name,
        training=job.training.procedure,
        seed=job.seed,
        config=_config(job),
        performance_measure=data.task.performance,
        data={
            "origin": data.origin,
            "vocabulary": len(data.vocabulary),
            "splits": {
                split: dataclasses.asdict(counts) | {"here": counts.here} for split, counts in data.counts.items()
            },
            "published_rows": dict(data.task.published_rows),
        },
        provenance=provenance(device),
    )


def tested(model: Classifier, job: PlannedJob) -> tuple[dict[str, Any], pd.DataFrame]:
    """Fields of the record that testing fills, and what is right of each test example (`Store.predictions`).

    Beside the measures of the task there are `confidence`, the mean probability of the predicted class,
    `gradient-mass-bottom-half` (`training.diagnostics`) and, where a query is read, `accuracy-query-only`.
    """
    data, device = job.prepared.data, model.device
    test = data.splits["test"]
    labels = np.array([example.label for example in test])
    found = probabilities(model, test, data, device)
    if not np.isfinite(found).all():
        bad = test[int((~np.isfinite(found)).any(1).argmax())].id
        raise ContractError(f"model {job.model.name} gives no finite probabilities for test example {bad}")
    performance = measure(found, labels, data.task) | {"confidence": float(found.max(1).mean())}
    if "gradients" in model.capabilities and (mass := mean_bottom_half_mass(model, data)) is not None:
        performance["gradient-mass-bottom-half"] = mass
    right = {"right": (found.argmax(1) == labels).astype(float), "right_query_only": np.full(len(test), np.nan)}
    if reads_query(data.task):
        right["right_query_only"] = (without_text(model, test, data, device).argmax(1) == labels).astype(float)
        performance["accuracy-query-only"] = float(right["right_query_only"].mean())
    passed = gate(found, labels, data.task, seed=job.seed)
    measures = {
        "performance": performance,
        "gate_passed": passed.passed,
        "gate": {"bound": passed.bound, "threshold": passed.threshold},
        "known_truth": verify_shortcut(model, data) if data.task.rationale == "planted" else {},
    }
    return measures, pd.DataFrame({"example": [example.id for example in test], **right})


def _config(job: PlannedJob) -> dict[str, Any]:
    """Settings of model and training; of a person's own, what it is made of."""
    if isinstance(job.model, ModelDefinition):
        return {"own_model": job.sha256, "source": job.model.source, "vectors": "its own"}
    return job.model.used | job.procedure.used(job.training)
