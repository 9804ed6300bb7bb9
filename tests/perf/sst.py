"""The size of the SST runs: texts as long as those of its test split, a model of 128 units, on a GPU where one is."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import torch

from faithboard import Batch, Classifier, Specials
from faithboard.config import ModelConfig
from faithboard.models import build
from faithboard.task import Source, Task

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
WORDS = 5_000
SPECIALS = Specials(pad=0, unk=1, begin=2, end=3, sep=4)
CLASSES = ("no", "yes", "perhaps")


def model_of(encoder: str = "bilstm", dim: int = 50, classes: int = 2) -> Classifier:
    """128 units, additive attention, random weights; 50-d embeddings are those of small vectors, 300-d the paper's."""
    source = Source("perf", "none", "none", "none", access="generated")
    task = Task(name="perf", version=1, source=source, labels=CLASSES[:classes], folder="perf")
    matrix = torch.randn(WORDS, dim, generator=torch.Generator().manual_seed(0))
    return build(ModelConfig(encoder=encoder), task, matrix, SPECIALS, seed=0).to(DEVICE)


def reacting(model: Classifier) -> Classifier:
    """The model with louder words and a steeper readout: random weights alone say about 0.5 whatever is asked of them,
    so nothing that is done to their attention moves the output."""
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        parameters["embedding.weight"].mul_(3)
        parameters["readout.output.weight"].mul_(10)
    return model


def sentences(number: int) -> Batch:
    """Random words in texts of those lengths, in the order of the data, between begin and end."""
    lengths = torch.tensor(_lengths(number)) + 2
    position = torch.arange(int(lengths.max()))
    real = position < lengths[:, None]
    ids = torch.randint(5, WORDS, real.shape, generator=torch.Generator().manual_seed(2))
    ids = ids.masked_fill(~real, SPECIALS.pad)
    ends = position == lengths[:, None] - 1
    return Batch(
        ids=ids.masked_fill(ends, SPECIALS.end).masked_fill(position == 0, SPECIALS.begin),
        segment=torch.zeros_like(ids),
        real=real,
        scorable=real & ~ends & (position > 0),
        example_id=tuple(f"text-{i}" for i in range(len(lengths))),
        specials=SPECIALS,
    ).to(DEVICE)


def _lengths(number: int) -> list[int]:
    """Words of the first texts of the test split where FAITHBOARD_DATA has it, else drawn like them."""
    root = os.environ.get("FAITHBOARD_DATA")
    if root is None:
        drawn = 19 + 9 * torch.randn(number, generator=torch.Generator().manual_seed(1))
        return drawn.round().long().clamp(6, 50).tolist()
    spec = importlib.util.spec_from_file_location("perf_sst", Path(__file__).parents[2] / "tasks" / "sst.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = [len(record.text) for record in module.read(Path(root) / "sst", "test") if record is not None]
    kept = [length for length in found if length > 5]
    # More than there are is those there are once more.
    return (kept * (number // len(kept) + 1))[:number]
