"""Settings of a model and of its training: plain frozen data, part of every key.

Names of models are composed: `bilstm-additive` is the encoder `bilstm` with `additive` attention. A task's `profile`
holds the values its paper used; a suite or the command line may override them. Settings that only some trainings read
(`mask_share` and its like) may stand beside any of them: a training's key and record hold those it reads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

from faithboard.errors import SuiteError, near


@dataclass(frozen=True)
class ModelConfig:
    """Architecture and embedding of a reference model (Jain & Wallace 2019, section 3 and published code)."""

    encoder: str = "bilstm"
    attention: str = "additive"
    hidden: int = 128
    """Units per direction (BiLSTM)."""
    embedding_dim: int = 300
    """Size of random embeddings; with a vectors file, its width counts instead."""
    vectors: str = "random"
    """`random` (N(0, 1)), `glove-6b-50d` (optional package), or the path of a vectors file."""
    missing: Literal["zero", "normal"] = "zero"
    """How a word without a vector starts: `zero` (the published code) or `normal` (N(0, 1), the paper)."""
    activation: str = "relu"
    """Of the Average encoder's projection: `relu` (the paper) or `tanh` (the published code). No other reads it."""

    @property
    def name(self) -> str:
        return f"{self.encoder}-{self.attention}"

    @property
    def used(self) -> dict[str, Any]:
        """The settings that take part in this model, by name: what its key and its record hold."""
        settings = asdict(self)
        if self.encoder != "average" or self.activation == SWITCHED_OFF["activation"]:
            del settings["activation"]
        return settings


@dataclass(frozen=True)
class TrainingConfig:
    """How a model is trained (Jain & Wallace 2019, appendix and published code)."""

    procedure: str = "standard"
    """Name of the training, see `faithboard.training.Training`."""
    init: str | None = None
    """Training whose model of the same seed and settings is trained further; None starts from fresh weights."""
    epochs: int = 8
    patience: int | None = None
    """Stop after this many epochs without a better dev score; None runs them all, as does `select = "last"`."""
    batch_size: int = 32
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5
    amsgrad: bool = True
    loss_reduction: str = "sum"
    """`sum` over the batch (classification) or `mean` (question answering)."""
    weigh_positive: bool = True
    """In binary tasks, weigh class 1 by N / positives - 1."""
    select: str = "roc-auc"
    """Dev measure that picks the epoch: `roc-auc` or `accuracy`; `last` runs every epoch and keeps the last one."""
    precision: str = "float32"
    """`bfloat16` runs the passes of training in mixed precision; weights, optimiser and every test stay float32."""
    train_examples: int | None = None
    """Train on this many of the training texts, drawn with the seed; None takes all. The vocabulary is that of all."""
    mask_share: float = 0.5
    """k: share of a text's words that a masking training replaces, rounded down to whole words."""
    mask_fill: str = "previous"
    """What stands in place of a masked word: `previous` kept word, `unk`, `zero` (vector) or `random` (word)."""
    mask_weight: float = 1.0
    """lambda: weight of the divergence between the predictions on full and masked text."""


MASKING = frozenset({"mask_share", "mask_fill", "mask_weight"})
"""Settings that only masking trainings read."""

LAST = "last"
"""`select` when no dev measure picks the epoch: models of different trainings are then compared at equal epochs."""

SWITCHED_OFF: Mapping[str, Any] = {"init": None, "precision": "float32", "train_examples": None, "activation": "relu"}
"""Values with which a setting does nothing, or is as it was before there was a choice: they stand in no key."""


def configured(
    model: str, task_profile: Mapping[str, Any], overrides: Mapping[str, Any], training: str = "standard"
) -> tuple[ModelConfig, TrainingConfig]:
    """Settings of `model` on a task: defaults, then the task's profile, then the suite's overrides.

    A training is not started from itself: `init` is None for the training it names, so that one suite can hold both.
    Raises SuiteError for a setting that neither has.
    """
    encoder, _, attention = model.partition("-")
    chosen: dict[str, Any] = {"encoder": encoder, "attention": attention or "none", "procedure": training}
    model_fields = {f.name for f in fields(ModelConfig)}
    training_fields = {f.name for f in fields(TrainingConfig)}
    for source in (task_profile, overrides):
        for key, value in source.items():
            if key not in model_fields | training_fields:
                raise SuiteError(
                    f"unknown setting {key!r} for model {model}: {near(key, model_fields | training_fields)}"
                )
            _check_type(model, key, value)
            chosen[key] = value
    if chosen.get("init") == training:
        chosen["init"] = None
    return (
        replace(ModelConfig(), **{k: v for k, v in chosen.items() if k in model_fields}),
        replace(TrainingConfig(), **{k: v for k, v in chosen.items() if k in training_fields}),
    )


def _check_type(model: str, key: str, value: Any) -> None:
    """Raise SuiteError for a value of another type than the default; whole numbers may stand for fractions."""
    default = {f.name: f.default for kind in (ModelConfig, TrainingConfig) for f in fields(kind)}[key]
    optional = {"patience": int, "init": str, "train_examples": int}
    kind: type = optional.get(key, type(default))
    if value is None and key in optional:
        return
    if kind is float and type(value) is int:
        return
    if kind is float and type(value) is float and not math.isfinite(value):
        raise SuiteError(f"setting {key} of model {model} must be finite, got {value!r}")
    if type(value) is not kind:
        raise SuiteError(f"setting {key} of model {model} must be {kind.__name__}, got {value!r}")
