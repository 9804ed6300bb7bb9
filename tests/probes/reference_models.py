"""Small random models with attention for the three layouts, sure enough to tell words apart, and texts for them."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from faithboard import Batch, Classifier, Rng
from faithboard.config import ModelConfig
from faithboard.metric import ProbeContext
from faithboard.models import build
from faithboard.task import Source, Task
from tests.toy import MIXED, SPECIALS, texts

SINGLE = Task("toy", 1, Source("toy", "", "", "", "generated"), ("no", "yes"), "toy")
TASKS = {
    "single": SINGLE,
    "pair": replace(SINGLE, layout="pair", labels=("a", "b", "c")),
    "sequence": replace(SINGLE, layout="sequence"),
}
LAYOUTS = tuple(TASKS)


def model_of(layout: str, attention: str = "additive", encoder: str = "bilstm", seed: int = 0) -> Classifier:
    matrix = torch.randn(11, 8, generator=torch.Generator().manual_seed(seed)) * 3
    return build(
        ModelConfig(encoder=encoder, attention=attention, hidden=6), TASKS[layout], matrix, SPECIALS, seed=seed
    )


def texts_of(layout: str) -> Batch:
    """Texts of 1 to 12 words; those of a model with a query have one."""
    lines = MIXED if layout == "single" else tuple(f"{line.partition('|')[0]} | what good" for line in MIXED)
    return texts(*lines)


def context(batch: Batch, seed: int = 0, mean_length: float = 8.0, answers_questions: bool = False) -> ProbeContext:
    return ProbeContext(seed, Rng(seed, batch), mean_length, answers_questions)


def shift_logit(model: Classifier, by: float) -> None:
    """Make the model of a layout `single` very sure."""
    with torch.no_grad():
        dict(model.named_parameters())["readout.output.bias"].add_(by)


def tvd(p: Tensor, q: Tensor) -> Tensor:
    return (p - q).abs().sum(-1) / 2
