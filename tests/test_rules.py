"""The contract of rules: ordinary derivatives by default, and a pass that leaves the model alone."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from faithboard import Rules, propagate
from faithboard.classifier import count_steps
from tests.models.composed import COMBINATIONS, TEXTS, batch_of, model_of


@pytest.mark.parametrize(("encoder", "attention", "layout"), COMBINATIONS)
def test_by_default_they_are_the_gradient(encoder: str, attention: str, layout: str) -> None:
    model, batch = model_of(layout, encoder, attention).double(), batch_of(layout, *TEXTS)
    embedded = model.embed(batch).detach().requires_grad_()
    logits = model(batch, embedded=embedded).logits
    direction = torch.linspace(-1, 1, logits.numel(), dtype=torch.float64).view_as(logits)
    (expected,) = torch.autograd.grad(logits, embedded, direction)
    found, at_embedded, _ = propagate(model, batch, embedded, Rules(), lambda logits: direction)
    torch.testing.assert_close(found, logits.detach(), rtol=0, atol=1e-12)
    torch.testing.assert_close(at_embedded, expected, rtol=1e-9, atol=1e-15)
    assert at_embedded[batch.scorable].abs().sum() > 0


@pytest.mark.parametrize("layout", ["single", "pair"])
def test_initial_states_of_recurrent_layers_are_sources(layout: str) -> None:
    model, batch = model_of(layout).double(), batch_of(layout, *TEXTS)
    rules = Rules()
    embedded = model.embed(batch).detach()
    _, _, at_sources = propagate(model, batch, embedded, rules, torch.ones_like)
    # State and cell of two directions, for the text and for the query.
    assert len(rules.sources) == len(at_sources) == (4 if layout == "single" else 8)
    assert all(float(arrived.abs().sum()) > 0 for arrived in at_sources)


def test_one_pass_each() -> None:
    model, batch = model_of("single"), batch_of("single", *TEXTS)
    rules = Rules()
    propagate(model, batch, model.embed(batch), rules, torch.ones_like)
    with pytest.raises(ValueError, match="served a pass already"):
        propagate(model, batch, model.embed(batch), rules, torch.ones_like)


def test_the_model_is_left_as_it_was_and_its_steps_are_counted() -> None:
    model, batch = model_of("sequence").train(), batch_of("sequence", *TEXTS)
    with torch.no_grad(), count_steps(model) as steps:
        embedded = model.embed(batch)
        first, *_ = propagate(model, batch, embedded, Rules(), torch.ones_like)
    assert (steps.forward, steps.backward) == (int(batch.real.sum()), int(batch.real.sum()))
    assert model.training
    assert not embedded.requires_grad
    assert all(parameter.requires_grad and parameter.grad is None for parameter in model.parameters())
    torch.testing.assert_close(first, model.eval()(batch).logits.detach())


def test_held_attention_passes_nothing_on() -> None:
    model, batch = model_of("single").double(), batch_of("single", *TEXTS)
    embedded = model.embed(batch).detach().requires_grad_()

    def gradient(rules: Rules | None) -> Tensor:
        logits = model(batch, embedded=embedded, detach_attention=True, rules=rules).logits
        return torch.autograd.grad(logits.sum(), embedded)[0]

    torch.testing.assert_close(gradient(Rules()), gradient(None))
