"""Invented results of a suite: models of three trainings with values that can be worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from faithboard.records import Explanation, ModelRecord, Row
from faithboard.results import Results
from tests.boards import model as record

EXAMPLES = ("a", "b", "c", "d")
POINTS = ["1%", "50%"]


def trained(task: str, training: str, seed: int, confidence: float = 0.8, **changes: Any) -> ModelRecord:
    plain = record(task, seed, training=training)
    config = {**plain.config, "select": "roc-auc"}
    if training != "standard":
        config |= {"mask_share": 0.5, "mask_fill": "previous", "mask_weight": 1.0}
    plain = replace(
        plain,
        key=f"{task}-{training}-{seed}",
        config=config,
        weights_sha256=f"w-{task}-{training}-{seed}",
        performance={"accuracy": 0.75, "confidence": confidence},
        performance_measure="accuracy",
        provenance={"device": "cpu", "best_epoch": 2 + seed},
    )
    return replace(plain, **changes)


def explained(
    of: ModelRecord, method: str, values: Mapping[str, Sequence[float]]
) -> tuple[Explanation, list[dict[str, Any]]]:
    """A method on a model; metric -> one value per example of `EXAMPLES`."""
    rows = [
        Row(
            key=f"{method}-{metric}-{of.key}",
            metric=metric,
            metric_version=1,
            parameters={},
            better="higher" if metric.startswith("compr") else "lower",
            value=0.0,
            n=len(own),
            points=POINTS,
            curve=[0.1, 0.2],
            curve_low=[0.0, 0.1],
            curve_high=[0.2, 0.3],
        )
        for metric, own in values.items()
    ]
    one = Explanation(
        key=f"{method}-{of.key}",
        model_key=of.key,
        task=of.task,
        model=of.model,
        training=of.training,
        seed=of.seed,
        weights_sha256=of.weights_sha256,
        method=method,
        rows=rows,
    )
    lines = [
        {"explain_key": one.key, "metric": metric, "example": name, "value": value}
        for metric, own in values.items()
        for name, value in zip(EXAMPLES, own, strict=False)
    ]
    return one, lines


def results(
    models: Sequence[ModelRecord],
    explanations: Sequence[tuple[Explanation, list[dict[str, Any]]]],
    right: Mapping[str, Sequence[float]] | None = None,
    seeds: tuple[int, ...] = (0, 1),
) -> Results:
    """`right`: key of a model -> which of its test texts it gets right; three of four without it."""
    known = {one.key: (right or {}).get(one.key, (1.0, 1.0, 1.0, 0.0)) for one in models}
    predictions = pd.DataFrame(
        [
            {"model_key": key, "example": name, "right": value, "right_query_only": float("nan")}
            for key, own in known.items()
            for name, value in zip(EXAMPLES, own, strict=True)
        ]
    )
    values = pd.DataFrame([line for _, lines in explanations for line in lines])
    return Results("tiny", 1, seeds, tuple(models), tuple(one for one, _ in explanations), values, predictions, ())
