"""Primitives under rules: the same values, and one backward per operation."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from faithboard.models.primitives import PLAIN, UnderRules
from faithboard.rules import Rules
from tests.models.composed import COMBINATIONS, TEXTS, batch_of, model_of

RULED = UnderRules(Rules())
REAL = torch.arange(6)[None] < torch.tensor([6, 2, 4])[:, None]


def states(width: int = 5, seed: int = 0) -> Tensor:
    drawn = torch.randn(3, 6, width, generator=torch.Generator().manual_seed(seed)).relu()
    return drawn.masked_fill(~REAL[:, :, None], 0.0)


@pytest.mark.parametrize("kernel", [1, 3, 7])
def test_shifted_windows_are_the_convolution(kernel: int) -> None:
    layer = nn.Conv1d(5, 4, kernel, padding=kernel // 2)
    torch.testing.assert_close(RULED.convolution(states(), layer, REAL), PLAIN.convolution(states(), layer, REAL))


def test_means_maxima_and_inner_products_have_the_same_values() -> None:
    query = states()[:, 0]
    torch.testing.assert_close(RULED.mean(states(), REAL), PLAIN.mean(states(), REAL))
    assert torch.equal(RULED.maximum(states(), REAL), PLAIN.maximum(states(), REAL))
    torch.testing.assert_close(RULED.inner(query, states(seed=1)), PLAIN.inner(query, states(seed=1)))


@pytest.mark.parametrize(("encoder", "attention", "layout"), COMBINATIONS)
def test_a_model_gives_the_same_output_under_rules(encoder: str, attention: str, layout: str) -> None:
    model, batch = model_of(layout, encoder, attention), batch_of(layout, *TEXTS)
    plain, ruled = model(batch), model(batch, rules=Rules())
    torch.testing.assert_close(ruled.logits, plain.logits, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(ruled.hidden, plain.hidden, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(ruled.attention, plain.attention, rtol=1e-5, atol=1e-6)


def test_a_convolution_knows_which_of_its_inputs_are_none() -> None:
    seen: list[Tensor] = []

    class Watching(Rules):
        def linear(self, inputs, weights, bias, present, output, back):  # type: ignore[no-untyped-def]
            seen.extend(present)
            return super().linear(inputs, weights, bias, present, output, back)

    point = states().requires_grad_()
    UnderRules(Watching()).convolution(point, nn.Conv1d(5, 4, 3, padding=1), REAL).sum().backward()
    counted = seen[0].sum(-1) / 5
    # The second text has two tokens: beyond them a window sees one, then none.
    assert counted.tolist() == [[2, 3, 3, 3, 3, 2], [2, 2, 1, 0, 0, 0], [2, 3, 3, 2, 1, 0]]


def test_what_receives_nothing_is_not_asked() -> None:
    class OnlySignals(Rules):
        def product(self, gate: Tensor, signal: Tensor, output: Tensor, back: Tensor) -> tuple[None, Tensor]:
            return None, back

        def nonlinear(self, kind: str, x: Tensor, output: Tensor, back: Tensor) -> Tensor:
            raise AssertionError("the gate received nothing")

    ops = UnderRules(OnlySignals())
    gate, signal = (torch.ones(2, 3, requires_grad=True) for _ in range(2))
    output = ops.product(ops.nonlinear("sigmoid", gate), signal)
    to_gate, to_signal = torch.autograd.grad(output.sum(), [gate, signal], allow_unused=True)
    assert to_gate is None
    assert torch.equal(to_signal, torch.ones(2, 3))
