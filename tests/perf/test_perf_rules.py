"""LRP and DeepLIFT against one bare pass forward and backward, in one run: `pytest tests/perf --benchmark-only`."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from faithboard import Batch, Rng, Specials, class_gradient
from faithboard.config import ModelConfig
from faithboard.models import AttentionClassifier, build
from faithboard.task import Source, Task
from tests.perf.timing import times_faster
from tests.toy import methods_of

TEXTS, WORDS = 64, 5_000
SPECIALS = Specials(pad=0, unk=1, begin=2, end=3, sep=4)
METHODS = {**methods_of("lrp.py"), **methods_of("deeplift.py")}


def model_of(encoder: str, dim: int) -> AttentionClassifier:
    """128 units and additive attention, fresh weights."""
    source = Source("perf", "none", "none", "none", access="generated")
    task = Task(name="perf", version=1, source=source, labels=("no", "yes"), folder="perf")
    matrix = torch.randn(WORDS, dim, generator=torch.Generator().manual_seed(0))
    return build(ModelConfig(encoder=encoder), task, matrix, SPECIALS, seed=0)


def sentences() -> Batch:
    """Texts of 5 to 50 tokens."""
    generator = torch.Generator().manual_seed(1)
    lengths = torch.linspace(5, 50, TEXTS).round().long()
    position = torch.arange(int(lengths.max()))
    real = position < lengths[:, None]
    ids = torch.randint(5, WORDS, real.shape, generator=generator).masked_fill(~real, SPECIALS.pad)
    ends = position == lengths[:, None] - 1
    return Batch(
        ids=ids.masked_fill(ends, SPECIALS.end).masked_fill(position == 0, SPECIALS.begin),
        segment=torch.zeros_like(ids),
        real=real,
        scorable=real & ~ends & (position > 0),
        example_id=tuple(f"text-{i}" for i in range(TEXTS)),
        specials=SPECIALS,
    )


@pytest.mark.parametrize("dim", [50, 300])
@pytest.mark.parametrize("encoder", ["bilstm", "cnn"])
@pytest.mark.parametrize("name", ["lrp-epsilon", "deeplift"])
def test_rules_against_a_bare_pass(benchmark: Any, name: str, encoder: str, dim: int) -> None:
    model, batch = model_of(encoder, dim), sentences()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        found = times_faster(
            benchmark,
            lambda: METHODS[name](model, batch, Rng(0, batch)),
            lambda: class_gradient(model, batch),
            rounds=7,
        )
    finally:
        torch.set_num_threads(threads)
    benchmark.extra_info["times a bare pass"] = 1 / found
    assert 1 / found < 8
