"""Identities of models, explanations and rows: what they are made of, never where or how fast they were made.

Batch size of an explanation, device and times are provenance and stay out. A golden test guards the format.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from faithboard.config import ModelConfig
from faithboard.metric import Metric, RetrainMetric
from faithboard.task import Example, Task

ENGINE_VERSION = 1
"""Raised by hand whenever a change of the engine moves scores or values; a golden test of scores says when."""

KEY_LENGTH = 24
"""Hex digits of a key that are kept: 96 bits."""


def digest(content: Any) -> str:
    """SHA-256 of canonical JSON (sorted keys, no blanks, shortest floats), cut to `KEY_LENGTH` hex digits."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_LENGTH]


def transform_of(task: Task) -> dict[str, Any]:
    """Everything in a task's definition that changes what a model reads."""
    return {
        "text": dataclasses.asdict(task.text),
        "layout": task.layout,
        "explained": list(task.explained),
        "labels": list(task.labels),
    }


def model_key(
    task: Task,
    fingerprint: str,
    model: ModelConfig,
    training: Mapping[str, Any],
    seed: int,
    vectors: str,
    procedure: str = "",
) -> str:
    """Key of a trained model. `vectors` is the content of the embedding source, `procedure` that of a submitted one.

    `training` holds the settings that the training uses (`Training.used`), as `init` the key of the model it goes on
    from.
    """
    config = model.used | {"vectors": vectors}
    return digest(
        {
            "kind": "model",
            "engine": ENGINE_VERSION,
            "task": [task.name, task.version],
            "data": fingerprint,
            "transform": transform_of(task),
            "model": config,
            "training": dict(training),
            "procedure": procedure,
            "seed": seed,
        }
    )


def submitted_model_key(task: Task, fingerprint: str, name: str, sha256: str, seed: int) -> str:
    """Key of a model that a person brings; `sha256` is that of everything it is made of."""
    return digest(
        {
            "kind": "model",
            "engine": ENGINE_VERSION,
            "task": [task.name, task.version],
            "data": fingerprint,
            "transform": transform_of(task),
            "submitted": [name, sha256],
            "seed": seed,
        }
    )


def examples_key(examples: Iterable[Example]) -> str:
    """Key of the explained examples, by id and in order; their content is in the data fingerprint."""
    return digest([example.id for example in examples])


def explain_key(model: str, method: str, method_sha256: str, examples: str, *, dtype: str = "float32") -> str:
    """Key of one method's scores on one model. `model` and `examples` are keys; `method` is empty for the probes."""
    return digest(
        {
            "kind": "explanation",
            "engine": ENGINE_VERSION,
            "model": model,
            "method": method,
            "file": method_sha256,
            "examples": examples,
            "dtype": dtype,
        }
    )


def row_key(explanation: str, metric: Metric) -> str:
    """Key of one metric on one explanation."""
    return digest(
        {
            "kind": "row",
            "engine": ENGINE_VERSION,
            "explanation": explanation,
            "metric": metric.name,
            "version": metric.version,
            "parameters": dict(metric.parameters),
        }
    )


def stages_key(weights: str, metric: RetrainMetric) -> str:
    """Key of unfinished retrainings of one explanation; `weights` is the hash of its model's.

    Shares and recursion stay out: a stage is named by what was removed, and metrics share those that are the same.
    """
    return digest(
        {
            "kind": "stages",
            "engine": ENGINE_VERSION,
            "weights": weights,
            "version": metric.version,
            "removed": [metric.parameters["operator"], metric.parameters["order"]],
        }
    )


def throughput_key(explanation: str, provenance: Mapping[str, Any]) -> str:
    """Key of a speed record: the explanation, and the device, dtype, torch version and threads it was timed with."""
    wanted = ("device", "dtype", "torch", "threads")
    return digest({"kind": "throughput", "explanation": explanation} | {name: provenance[name] for name in wanted})
