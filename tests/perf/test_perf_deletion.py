"""Every word deleted once, against one position at a time in batches of 32: `pytest tests/perf --benchmark-only`."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest
import torch

from faithboard import Batch, Classifier, Specials, predict, without_each_token
from faithboard.config import ModelConfig
from faithboard.models import build
from faithboard.task import Source, Task
from tests.perf.timing import times_faster

TEXTS, WORDS = 128, 5_000
NAIVE_BATCH = 32
SPECIALS = Specials(pad=0, unk=1, begin=2, end=3, sep=4)


def bilstm(dim: int) -> Classifier:
    """BiLSTM of 128 units with additive attention and random weights."""
    source = Source("perf", "none", "none", "none", access="generated")
    task = Task(name="perf", version=1, source=source, labels=("no", "yes"), folder="perf")
    matrix = torch.randn(WORDS, dim, generator=torch.Generator().manual_seed(0))
    return build(ModelConfig(), task, matrix, SPECIALS, seed=0)


def sentence_lengths() -> list[int]:
    """Words of the first texts of SST's test split where FAITHBOARD_DATA has it, else drawn like them."""
    root = os.environ.get("FAITHBOARD_DATA")
    if root is None:
        drawn = 19 + 9 * torch.randn(TEXTS, generator=torch.Generator().manual_seed(1))
        return drawn.round().long().clamp(5, 50).tolist()
    spec = importlib.util.spec_from_file_location("perf_sst", Path(__file__).parents[2] / "tasks" / "sst.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lengths = (len(record.text) for record in module.read(Path(root) / "sst", "test"))
    return [length for length in lengths if length > 5][:TEXTS]


def sentences() -> Batch:
    """Random words in texts of those lengths, in the order of the data, between begin and end."""
    lengths = torch.tensor(sentence_lengths()) + 2
    position = torch.arange(int(lengths.max()))
    real = position < lengths[:, None]
    ids = torch.randint(5, WORDS, real.shape, generator=torch.Generator().manual_seed(2)).masked_fill(~real, 0)
    ends = position == lengths[:, None] - 1
    return Batch(
        ids=ids.masked_fill(ends, SPECIALS.end).masked_fill(position == 0, SPECIALS.begin),
        segment=torch.zeros_like(ids),
        real=real,
        scorable=real & ~ends & (position > 0),
        example_id=tuple(f"text-{i}" for i in range(len(lengths))),
        specials=SPECIALS,
    )


def one_position_at_a_time(model: Classifier, batch: Batch) -> torch.Tensor:
    """The plain way: for each batch of 32, each position, one call on the texts that have it."""
    found = torch.full((*batch.ids.shape, 2), torch.nan, dtype=torch.float64)
    for start in range(0, len(batch), NAIVE_BATCH):
        for position in range(batch.ids.shape[1]):
            rows = start + batch.scorable[start : start + NAIVE_BATCH, position].nonzero()[:, 0]
            if len(rows) > 0:
                part = batch.rows(rows)
                drop = torch.zeros_like(part.real)
                drop[:, position] = True
                found[rows, position] = predict(model, part.without(drop))
    return found


# The smaller the embeddings, the less of the time goes into projecting them, which is done once per text.
@pytest.mark.parametrize(("dim", "least"), [(50, 2), (300, 3)])
def test_every_deletion_at_once_is_faster_than_one_position_at_a_time(benchmark: Any, dim: int, least: float) -> None:
    model, batch = bilstm(dim), sentences()
    expected = one_position_at_a_time(model, batch)
    torch.testing.assert_close(without_each_token(model, batch), expected, rtol=0, atol=1e-6, equal_nan=True)

    ratio = times_faster(
        benchmark, lambda: without_each_token(model, batch), lambda: one_position_at_a_time(model, batch), rounds=5
    )
    assert ratio >= least
