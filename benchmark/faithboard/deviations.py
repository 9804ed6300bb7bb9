"""In which settings a trained model is not what the profile of its task makes it, as a reader is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from functools import cache
from pathlib import PurePath
from typing import Any

from faithboard.config import MASKING, SWITCHED_OFF, ModelConfig, TrainingConfig, configured
from faithboard.resolve import builtin

_NAMED = {"encoder", "attention", "procedure"}
"""Settings that the names of model and training say."""
_MASKING = {"mask_share": "k", "mask_fill": "fill", "mask_weight": "lambda"}


def deviations(config: Mapping[str, Any], model: str, training: str, task: str) -> str:
    """`epochs 2 (profile 8), k 0.5, fill previous, lambda 1`; empty for a model that is all by the profile.

    `config` is that of a record or of a table. A task that is not built in has the defaults in place of a profile. What
    a masking training masks is always said; of a person's own model nothing is.
    """
    if "own_model" in config:
        return ""
    masking = (f"{word} {_shown(name, config[name])}" for name, word in _MASKING.items() if name in config)
    return ", ".join([*_differing(config, model, training, task), *masking])


def _differing(config: Mapping[str, Any], model: str, training: str, task: str) -> Iterator[str]:
    profile = _profiles().get(task)
    source = "default" if profile is None else "profile"
    by_profile, trained_by_profile = configured(model, profile or {}, {}, training)
    wanted = {**SWITCHED_OFF, **by_profile.used, **asdict(trained_by_profile)}
    # Vectors bring their own width, and where all are random no word is without.
    unread = "missing" if config.get("vectors") == "random" else "embedding_dim"
    for name in (field.name for kind in (ModelConfig, TrainingConfig) for field in fields(kind)):
        if name not in wanted or name in MASKING | _NAMED | {unread}:
            continue
        # A setting that is not recorded is switched off, or nothing reads it.
        value = config.get(name, SWITCHED_OFF.get(name, wanted[name]))
        if _shown(name, value) != _shown(name, wanted[name]):
            yield f"{name} {_shown(name, value)} ({source} {_shown(name, wanted[name])})"


@cache
def _profiles() -> Mapping[str, Mapping[str, Any]]:
    return {name: one.value.profile for name, one in builtin("task").items()}


def _shown(name: str, value: Any) -> str:
    if name == "vectors":
        return PurePath(value).name
    return f"{value:g}" if isinstance(value, float) else "none" if value is None else str(value).lower()
