"""Probes of models that were never trained: numbers with known answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from faithboard.probes.agreement import PAIRS
from faithboard.records import Explanation, ModelRecord, Row
from faithboard.reproduction.attention.measured import LENGTH, PREDICTED, Measured
from faithboard.results import Results
from tests.boards import model as record

LABELS = {"sst": ("negative", "positive"), "planted": ("north", "south"), "babi-1": ("kitchen", "garden")}
SPLITS = {
    split: {"used": 100, "here": 100, "average_length": 19.0, "per_class": {"negative": 40, "positive": 60}}
    for split in ("train", "dev", "test")
}


def trained(task: str, name: str, seed: int = 0, **changes: Any) -> ModelRecord:
    plain = record(task, seed, model=name, key=f"{task}-{name}-{seed}")
    given: dict[str, Any] = {
        "data": {"splits": SPLITS, "published_rows": {"train": 200}, "vocabulary": 16_000},
        "performance": {"accuracy": 0.9, "f1-weighted": 0.8 + seed / 10},
    }
    return replace(plain, **{**given, **changes})


def columns(
    taus: Mapping[str, Sequence[Sequence[float]]], predicted: Sequence[Sequence[int]], length: int = 20, **more: Any
) -> dict[str, np.ndarray]:
    """Columns of the probes, `[seed][example]` in; p is 0.01 where tau is over 0.3, else 0.5; the top-k agreement is
    half of tau."""
    found: dict[str, np.ndarray] = {}
    shape = np.array(predicted, dtype=float).T
    for pair in PAIRS:
        tau = np.array(taus.get(pair, np.zeros(shape.T.shape)), dtype=float).T
        found[f"tau-{pair}"] = tau
        found[f"top-k-{pair}"] = tau / 2
        found[f"p-{pair}"] = np.where(np.isnan(tau) | (length < 5), np.nan, np.where(tau > 0.3, 0.01, 0.5))
    found[PREDICTED] = shape
    found[LENGTH] = np.full(shape.shape, float(length))
    return found | {name.replace("_", "-"): np.array(values, dtype=float).T for name, values in more.items()}


def measured(task: str, name: str, values: Mapping[str, np.ndarray], **changes: Any) -> Measured:
    examples, seeds = values[PREDICTED].shape
    records = tuple(trained(task, name, seed, **changes) for seed in range(seeds))
    return Measured(task, name, records, tuple(f"e{at:03d}" for at in range(examples)), values)


def noisy(mean: float, examples: int = 40, seeds: int = 2, spread: float = 0.1, salt: int = 0) -> list[list[float]]:
    found: list[list[float]] = (
        (mean + spread * np.random.default_rng([salt, examples]).normal(size=(seeds, examples))).clip(-1, 1).tolist()
    )
    return found


def both_classes(examples: int = 40, seeds: int = 2) -> list[list[int]]:
    return [[at % 2 for at in range(examples)] for _ in range(seeds)]


def full(task: str, name: str, gradient: float, jsd: float = 0.5, moved: float = 0.02, **changes: Any) -> Measured:
    """A model with every column; `gradient` is its tau between attention and gradient."""
    size = (len(both_classes()), len(both_classes()[0]))
    values = columns(
        {
            "attention-gradient": noisy(gradient, salt=1),
            "attention-loo": noisy(gradient - 0.05, salt=2),
            "gradient-loo": noisy(0.6, salt=3),
        },
        both_classes(),
        permutation_median_tvd=np.full(size, moved),
        max_attention=np.tile(np.linspace(0.05, 0.95, size[1]), (size[0], 1)),
        adversarial_max_jsd=noisy(jsd, salt=4, spread=0.02),
        adversarial_accepted=np.full(size, 0.8),
        adversarial_code_2019_max_jsd=noisy(jsd + 0.1, salt=5, spread=0.02),
        adversarial_code_2019_accepted=np.full(size, 1.0),
    )
    return measured(task, name, values, **changes)


def results(models: Sequence[Measured]) -> Results:
    """The stored results that the models would come from."""
    explanations, frames = [], []
    for one in models:
        for at, trained_one in enumerate(one.records):
            key = f"probes-{trained_one.key}"
            rows = [Row(f"{key}-{name}", name, 1, {}, "neither", kind="probe") for name in one.columns]
            explanations.append(
                Explanation(
                    key=key,
                    model_key=trained_one.key,
                    task=one.task,
                    model=one.model,
                    training="standard",
                    seed=trained_one.seed,
                    weights_sha256=trained_one.weights_sha256,
                    method="",
                    rows=rows,
                )
            )
            for name, values in one.columns.items():
                frames.append(
                    pd.DataFrame({"explain_key": key, "metric": name, "example": one.examples, "value": values[:, at]})
                )
    records = tuple(each for one in models for each in one.records)
    empty = pd.DataFrame({"model_key": [], "example": [], "right": [], "right_query_only": []})
    return Results("tiny", 1, (0, 1), records, tuple(explanations), pd.concat(frames, ignore_index=True), empty, ())
