"""How much of LIME and kernel SHAP goes into fitting rather than into asking the model: `pytest tests/perf`."""

from __future__ import annotations

import time
from types import FunctionType
from typing import Any

import pytest
import torch

from faithboard import Rng
from tests.perf.sst import model_of, sentences
from tests.toy import methods_of

TEXTS = 16


@pytest.mark.parametrize(
    ("file", "name", "solve"), [("lime.py", "lime", "_ridge"), ("shapley.py", "kernel-shap", "_constrained")]
)
def test_the_solve_takes_less_than_thirty_percent(
    benchmark: Any, file: str, name: str, solve: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = methods_of(file)[name]
    assert isinstance(method.explain, FunctionType)
    inside = method.explain.__globals__
    fit, spent = inside[solve], []

    def timed(*inputs: torch.Tensor) -> torch.Tensor:
        start = time.perf_counter()
        found: torch.Tensor = fit(*inputs)
        spent.append(time.perf_counter() - start)
        return found

    monkeypatch.setitem(inside, solve, timed)
    model, batch = model_of(), sentences(TEXTS)
    benchmark.pedantic(lambda: method(model, batch, Rng(0, batch)), rounds=3, warmup_rounds=1)
    share = min(spent[1:]) / benchmark.stats.stats.min
    benchmark.extra_info["share of the solve"] = share
    assert share < 0.3
