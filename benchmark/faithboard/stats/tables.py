"""What the rows of one table share, from the records of its trained models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from faithboard.errors import SuiteError
from faithboard.records import Explanation, ModelRecord
from faithboard.stats.board import Table

SHAPE = "embedding"
"""The setting that is only known of a model whose training succeeded: it is no difference between two models."""


def table_of(
    suite: str,
    version: int,
    seeds: Sequence[int],
    models: Sequence[ModelRecord],
    explanations: Iterable[Explanation],
) -> Table:
    """The table of `models`, one record per seed, of one version of a task, data, architecture and training.

    Raises SuiteError when two models have one seed, or when their settings differ: they are not one model.
    """
    key = f"{models[0].task}-v{models[0].task_version}/{models[0].model}/{models[0].training}"
    key += f"/{models[0].fingerprint[:8]}"
    # What can only be told of a trained model is that of a trained one, if there is any.
    first = next((model for model in models if model.status == "ok"), models[0])
    _check(key, models)
    config = _config(first)
    explained = [explanation for explanation in explanations if explanation.status == "ok"]
    correct = {e.seed: e.share_correct for e in explained if e.share_correct is not None}
    gates = [model.gate for model in models if model.gate]
    return Table(
        key=key,
        suite=suite,
        suite_version=version,
        task=first.task,
        task_version=first.task_version,
        family=next((model.family for model in models if model.family), first.task),
        fingerprint=first.fingerprint,
        fingerprint_name=first.fingerprint_name,
        model=first.model,
        training=first.training,
        vectors=str(config.get("vectors", "")),
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
        config=config,
        known_truth=_known_truth(models),
        reason=_reason(seeds, models),
        training_cost=next((model.training_cost for model in models if model.training_cost), {}),
    )


def _check(key: str, models: Sequence[ModelRecord]) -> None:
    twice = [seed for seed, times in Counter(model.seed for model in models).items() if times > 1]
    if twice:
        raise SuiteError(
            f"{key} has two models of seed {twice[0]}; keep one of them: `faithboard run` keeps the newest"
        )
    settings = [{name: value for name, value in model.config.items() if name != SHAPE} for model in models]
    differing = sorted(
        {name for own in settings for name in own | settings[0] if own.get(name) != settings[0].get(name)}
    )
    if differing:
        raise SuiteError(
            f"the models of {key} differ in {', '.join(differing)}, and one table holds one model: run the suite again "
            "with one setting for every seed, or keep the others in a suite of another name"
        )


def _config(model: ModelRecord) -> dict[str, Any]:
    config = {name: value for name, value in model.config.items() if name != SHAPE}
    if "vectors" in config:
        # The folder of a vectors file is the reader's own business; its name says which vectors they are.
        config["vectors"] = PurePath(str(config["vectors"])).name
    if SHAPE in model.config:
        config["embedding_dim"] = model.config[SHAPE][1]  # that of the vectors, whatever was asked for without any
    return config


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
