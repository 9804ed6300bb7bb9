"""What the rows of one table share, from the records of its trained models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePath

import numpy as np

from faithboard.records import Explanation, ModelRecord
from faithboard.stats.board import Table


def table_of(
    suite: str,
    version: int,
    seeds: Sequence[int],
    models: Sequence[ModelRecord],
    explanations: Iterable[Explanation],
    family: str,
) -> Table:
    """The table of `models`, one record per seed, of one task, data fingerprint, architecture and training.

    Raises ValueError when two models have one seed, or when their settings differ: they are not one model.
    """
    first = models[0]
    key = f"{first.task}/{first.model}/{first.training}/{first.fingerprint[:8]}"
    if len({model.seed for model in models}) < len(models):
        raise ValueError(f"two models of one seed in {key}")
    if any(model.config != first.config for model in models):
        raise ValueError(f"models of different settings in {key}")
    explained = [explanation for explanation in explanations if explanation.status == "ok"]
    correct = {e.seed: e.share_correct for e in explained if e.share_correct is not None}
    gates = [model.gate for model in models if model.gate]
    return Table(
        key=key,
        suite=suite,
        suite_version=version,
        task=first.task,
        task_version=first.task_version,
        family=family,
        fingerprint=first.fingerprint,
        fingerprint_name=first.fingerprint_name,
        model=first.model,
        training=first.training,
        # The folder of a vectors file is the reader's own business; its name says which vectors they are.
        vectors=PurePath(str(first.config.get("vectors", ""))).name,
        seeds=sorted(seeds),
        device=_device(models, explained),
        performance_measure=first.performance_measure,
        performance={
            measure: [model.performance[measure] for model in models if measure in model.performance]
            for measure in sorted({name for model in models for name in model.performance})
        },
        gate_passed=all(model.gate_passed for model in models),
        gate=min(gates, key=lambda gate: gate["bound"] - gate["threshold"]) if gates else {},
        share_correct=float(np.mean(list(correct.values()))) if correct else None,
        data=first.data,
        known_truth=_known_truth(models),
        reason=_reason(seeds, models),
    )


def device_of(explanation: Explanation) -> str:
    """Where it was explained; empty when its record does not say."""
    return str(explanation.provenance.get("device", ""))


def _device(models: Sequence[ModelRecord], explained: Sequence[Explanation]) -> str:
    """The commonest device, the first by name among equals; the models' own while nothing is explained."""
    found = Counter(device_of(explanation) for explanation in explained)
    found = found or Counter(str(model.provenance.get("device", "")) for model in models)
    return min(found, key=lambda device: (-found[device], device))


def _known_truth(models: Sequence[ModelRecord]) -> dict[str, float]:
    found = [model.known_truth for model in models if model.known_truth]
    names = sorted({name for truth in found for name in truth})
    means = {name: float(np.mean([truth[name] for truth in found if name in truth])) for name in names}
    if "verified" in means:
        means["verified"] = min(truth.get("verified", 0.0) for truth in found)
    return means


def _reason(seeds: Sequence[int], models: Sequence[ModelRecord]) -> str:
    reasons = [f"training failed for seed {m.seed}: {m.reason}" for m in models if m.status != "ok"]
    missing = sorted(set(seeds) - {model.seed for model in models})
    reasons += [f"no trained model for seed {seed}" for seed in missing]
    below = [str(model.seed) for model in models if model.status == "ok" and not model.gate_passed]
    if below:
        reasons.append(f"the model fails the accuracy gate (seed {', '.join(below)})")
    return "; ".join(reasons)
