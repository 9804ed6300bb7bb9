"""faithboard: which explanation methods tell the truth about a text classifier?

Everything a definition (a task, a method, a metric) needs is importable from here. Names are loaded on first use, so
that asking the command line for help does not import torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faithboard.api import compare, evaluate, explain
    from faithboard.attribution import Attribution, Method, method, variant
    from faithboard.background import Background
    from faithboard.batch import Batch, Specials
    from faithboard.captum import from_captum
    from faithboard.classifier import Classifier, Output, predict, predicted_class
    from faithboard.erasure import evaluate_masks, without_each_token
    from faithboard.errors import ContractError, DataError, FaithboardError
    from faithboard.gradients import class_gradient, class_gradients
    from faithboard.metric import ErasureMetric, Probe, RationaleMetric
    from faithboard.rng import TOKEN, Rng
    from faithboard.rules import Rules, propagate, propagation_batches
    from faithboard.submitted import ModelDefinition, TaskTexts, model
    from faithboard.task import Example, HubSource, Record, Source, Task, TextRules
    from faithboard.training import CrossEntropy, Training

__version__ = "0.1.0"

_WHERE = {
    "api": ("compare", "evaluate", "explain"),
    "attribution": ("Attribution", "Method", "method", "variant"),
    "background": ("Background",),
    "batch": ("Batch", "Specials"),
    "captum": ("from_captum",),
    "classifier": ("Classifier", "Output", "predict", "predicted_class"),
    "erasure": ("evaluate_masks", "without_each_token"),
    "errors": ("ContractError", "DataError", "FaithboardError"),
    "gradients": ("class_gradient", "class_gradients"),
    "metric": ("ErasureMetric", "Probe", "RationaleMetric"),
    "rng": ("TOKEN", "Rng"),
    "rules": ("Rules", "propagate", "propagation_batches"),
    "submitted": ("ModelDefinition", "TaskTexts", "model"),
    "task": ("Example", "HubSource", "Record", "Source", "Task", "TextRules"),
    "training": ("CrossEntropy", "Training"),
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "TOKEN",
    "Attribution",
    "Background",
    "Batch",
    "Classifier",
    "ContractError",
    "CrossEntropy",
    "DataError",
    "ErasureMetric",
    "Example",
    "FaithboardError",
    "HubSource",
    "Method",
    "ModelDefinition",
    "Output",
    "Probe",
    "RationaleMetric",
    "Record",
    "Rng",
    "Rules",
    "Source",
    "Specials",
    "Task",
    "TaskTexts",
    "TextRules",
    "Training",
    "__version__",
    "class_gradient",
    "class_gradients",
    "compare",
    "evaluate",
    "evaluate_masks",
    "explain",
    "from_captum",
    "method",
    "model",
    "predict",
    "predicted_class",
    "propagate",
    "propagation_batches",
    "variant",
    "without_each_token",
]


if not TYPE_CHECKING:  # a type checker must not take this for a promise that every name exists

    def __getattr__(name: str) -> object:
        if name not in _MODULE_OF:
            raise AttributeError(f"module 'faithboard' has no attribute {name!r}")
        return getattr(importlib.import_module(f"faithboard.{_MODULE_OF[name]}"), name)
