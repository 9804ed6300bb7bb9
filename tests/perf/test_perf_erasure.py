"""Pooled erasure against scoring one method, bin and batch of 32 at a time: `pytest tests/perf --benchmark-only`."""

from __future__ import annotations

from typing import Any

import torch

from faithboard import Batch, Classifier, Rng, Specials, evaluate_masks, predict
from faithboard.config import ModelConfig
from faithboard.erasure import MaskCount
from faithboard.metrics.eraser import COMPREHENSIVENESS, SUFFICIENCY
from faithboard.models import build
from faithboard.order import ranks
from faithboard.task import Source, Task
from tests.perf.timing import times_faster

METHODS, TEXTS, WORDS = 15, 64, 5_000
NAIVE_BATCH = 32


def bilstm() -> Classifier:
    """BiLSTM of 128 units and 50-d embeddings, the size of the SST runs with small vectors."""
    source = Source("perf", "none", "none", "none", access="generated")
    task = Task(name="perf", version=1, source=source, labels=("no", "yes"), folder="perf")
    matrix = torch.randn(WORDS, 50, generator=torch.Generator().manual_seed(0))
    return build(ModelConfig(), task, matrix, Specials(pad=0, unk=1, begin=2, end=3, sep=4), seed=0)


def sentences(specials: Specials) -> Batch:
    """Texts with lengths like those of SST."""
    generator = torch.Generator().manual_seed(1)
    lengths = (19 + 9 * torch.randn(TEXTS, generator=generator)).round().long().clamp(3, 56) + 2
    position = torch.arange(int(lengths.max()))
    real = position < lengths[:, None]
    ids = torch.randint(5, WORDS, real.shape, generator=generator).masked_fill(~real, specials.pad)
    ends = position == lengths[:, None] - 1
    ids = ids.masked_fill(ends, specials.end).masked_fill(position == 0, specials.begin)
    return Batch(
        ids=ids,
        segment=torch.zeros_like(ids),
        real=real,
        scorable=real & ~ends & (position > 0),
        example_id=tuple(f"text-{i}" for i in range(TEXTS)),
        specials=specials,
    )


def related_rankings(batch: Batch) -> list[torch.Tensor]:
    """Ranks of fifteen methods that agree as real ones do: one signal, and noise from none to as much again."""
    signal = Rng(0, batch).normal("token")
    permutation = Rng(1, batch).permutation()
    noises = (Rng(2 + m, batch).normal("token") for m in range(METHODS))
    return [ranks(signal + m / METHODS * noise, batch, permutation) for m, noise in enumerate(noises)]


def one_at_a_time(model: Classifier, batch: Batch, masks: list[torch.Tensor]) -> torch.Tensor:
    """The plain way: for each method and metric, each point, each batch of 32, one call."""
    found = []
    for mask in masks:
        for point in range(mask.shape[1]):
            parts = []
            for start in range(0, len(batch), NAIVE_BATCH):
                part = batch.rows(slice(start, start + NAIVE_BATCH))
                drop = mask[start : start + NAIVE_BATCH, point, : part.ids.shape[1]]
                parts.append(predict(model, part.without(drop)))
            found.append(torch.cat(parts))
    return torch.stack(found, 1)


def test_pooled_masks_are_faster_than_one_method_and_bin_at_a_time(benchmark: Any) -> None:
    model = bilstm()
    batch = sentences(model.specials)
    rankings = related_rankings(batch)
    masks = [m.masks(rank, batch.scorable) for rank in rankings for m in (COMPREHENSIVENESS, SUFFICIENCY)]

    pooled = torch.cat(masks, 1)
    count = MaskCount()
    found = evaluate_masks(model, batch, pooled, count=count)
    torch.testing.assert_close(found, one_at_a_time(model, batch, masks), rtol=0, atol=1e-6)
    benchmark.extra_info["asked"], benchmark.extra_info["evaluated"] = count.asked, count.evaluated

    def pool() -> torch.Tensor:
        return evaluate_masks(model, batch, pooled)

    assert times_faster(benchmark, pool, lambda: one_at_a_time(model, batch, masks), rounds=3) >= 3
