"""Every word deleted once, against one position at a time in batches of 32: `pytest tests/perf --benchmark-only`."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from faithboard import Batch, Classifier, predict, without_each_token
from tests.perf.sst import model_of, sentences
from tests.perf.timing import times_faster

TEXTS = 128
NAIVE_BATCH = 32


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
    model, batch = model_of(dim=dim), sentences(TEXTS)
    expected = one_position_at_a_time(model, batch)
    torch.testing.assert_close(without_each_token(model, batch), expected, rtol=0, atol=1e-6, equal_nan=True)

    ratio = times_faster(
        benchmark, lambda: without_each_token(model, batch), lambda: one_position_at_a_time(model, batch), rounds=5
    )
    assert ratio >= least
