"""LRP and DeepLIFT against one bare pass forward and backward, in one run: `pytest tests/perf --benchmark-only`."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from faithboard import Rng, class_gradient
from tests.perf.sst import model_of, sentences
from tests.perf.timing import times_faster
from tests.toy import methods_of

TEXTS = 64
METHODS = {**methods_of("lrp.py"), **methods_of("deeplift.py")}


@pytest.mark.parametrize("dim", [50, 300])
@pytest.mark.parametrize("encoder", ["bilstm", "cnn"])
@pytest.mark.parametrize("name", ["lrp-epsilon", "deeplift"])
def test_rules_against_a_bare_pass(benchmark: Any, name: str, encoder: str, dim: int) -> None:
    model, batch = model_of(encoder, dim), sentences(TEXTS)
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
