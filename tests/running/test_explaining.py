"""No pass of a method sees more tokens than its budget, however long or many the texts, and the scores are the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from faithboard import Batch, Classifier
from faithboard.running.explaining import explain_batch
from tests.toy import MIXED, BagOfWords, background, methods_of, recurrent, texts

ALL = methods_of("integrated_gradients.py") | methods_of("lrp.py") | methods_of("deeplift.py")
FORWARD = 5_000
"""Tokens that run at once without gradients: two long texts fit."""


@contextmanager
def passes(model: Classifier) -> Iterator[list[tuple[int, bool]]]:
    """(tokens with padding, whether a graph is kept) of every pass through the encoder while the block runs."""
    found: list[tuple[int, bool]] = []

    def noted(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        found.append((inputs[1].numel(), torch.is_grad_enabled()))

    handles = [module.register_forward_pre_hook(noted) for module in model.counted()]
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()


def budgets(monkeypatch: pytest.MonkeyPatch, gradients: int) -> None:
    def token_budget(device: torch.device, *, gradients: bool = False) -> int:
        return with_graph if gradients else FORWARD

    with_graph = gradients
    for module in ("running.explaining", "gradients", "rules"):
        monkeypatch.setattr(f"faithboard.{module}.token_budget", token_budget)


def scores_of(name: str, model: Classifier, batch: Batch) -> dict[str, np.ndarray]:
    found = explain_batch(model, ALL[name].given(background(*MIXED)), batch, 0)
    return dict(zip(found["example"], found["scores"], strict=True))


@pytest.mark.parametrize("budget", [2_500, 300])
def test_fifty_steps_on_long_texts_run_one_text_at_a_time(monkeypatch: pytest.MonkeyPatch, budget: int) -> None:
    model, batch = BagOfWords(), texts(" ".join(["good", "film"] * 1_000), " ".join(["bad"] * 1_999))
    width = batch.ids.shape[1]
    assert budget < 2 * width <= FORWARD
    budgets(monkeypatch, budget)
    with passes(model) as seen:
        scores_of("integrated-gradients", model, batch)
    graphs = [tokens for tokens, graph in seen if graph]
    assert len(graphs) == 2 * 50
    assert max(graphs) <= max(budget, width)
    assert max(tokens for tokens, _ in seen) <= FORWARD


def test_steps_of_short_texts_share_a_pass_up_to_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = BagOfWords(), texts(*["good film bad"] * 40)
    budgets(monkeypatch, 100)
    with passes(model) as seen:
        scores_of("integrated-gradients", model, batch)
    graphs = [tokens for tokens, graph in seen if graph]
    assert 50 < max(graphs) <= 100


@pytest.mark.parametrize("name", ["lrp-epsilon", "deeplift", "deep-shap"])
def test_passes_under_rules_are_split_and_say_the_same(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    model, batch = recurrent(), texts(*MIXED, *MIXED[::-1], "good " * 12)
    longest = int(batch.lengths.max())
    budgets(monkeypatch, 10_000)
    with passes(model) as whole:
        expected = scores_of(name, model, batch)
    budget = 2 * longest + 1
    budgets(monkeypatch, budget)
    with passes(model) as seen:
        found = scores_of(name, model, batch)
    assert max(tokens for tokens, graph in whole if graph) > budget
    assert max(tokens for tokens, graph in seen if graph) <= budget
    assert found.keys() == expected.keys()
    for example, scores in expected.items():
        np.testing.assert_allclose(found[example], scores, rtol=1e-4, atol=1e-6)
