"""Attention by hand."""

from __future__ import annotations

import math

import torch

from faithboard.models.attention import Additive, Dot, weights


def test_softmax_over_attended_tokens_only() -> None:
    scores = torch.tensor([[0.0, math.log(3.0), 50.0]])
    alpha = weights(scores, torch.tensor([[True, True, False]]))
    torch.testing.assert_close(alpha, torch.tensor([[0.25, 0.75, 0.0]]))


def test_nothing_to_attend_to_gives_zeros_and_a_finite_gradient() -> None:
    scores = torch.zeros(2, 3, requires_grad=True)
    alpha = weights(scores, torch.tensor([[False] * 3, [True] * 3]))
    assert alpha[0].tolist() == [0.0, 0.0, 0.0]
    alpha.square().sum().backward()
    assert scores.grad is not None
    assert torch.isfinite(scores.grad).all()
    assert weights(torch.zeros(2, 0), torch.zeros(2, 0, dtype=torch.bool)).shape == (2, 0)


def test_additive_scores_by_hand() -> None:
    additive = Additive(2, query=True)
    assert additive.query is not None
    with torch.no_grad():
        additive.state.weight.copy_(torch.tensor([[1.0, 0.0]]))
        additive.state.bias.fill_(0.5)
        additive.query.weight.copy_(torch.tensor([[0.0, 2.0]]))
        additive.score.weight.fill_(3.0)
    scores = additive(torch.tensor([[[1.0, 9.0], [-1.0, 9.0]]]), torch.tensor([[9.0, 0.25]]))
    expected = [3 * math.tanh(1.0 + 0.5 + 0.5), 3 * math.tanh(-1.0 + 0.5 + 0.5)]
    torch.testing.assert_close(scores, torch.tensor([expected]))


def test_dot_is_scaled_by_the_root_of_the_width() -> None:
    hidden = torch.tensor([[[1.0, 2.0, 3.0, 4.0]]])
    with_query = Dot(4, query=True)(hidden, torch.tensor([[1.0, 1.0, 0.0, 1.0]]))
    torch.testing.assert_close(with_query, torch.tensor([[7.0 / 2.0]]))
    alone = Dot(4, query=False)
    assert alone.score is not None
    with torch.no_grad():
        alone.score.weight.copy_(torch.tensor([[0.0, 0.0, 0.0, 1.0]]))
    torch.testing.assert_close(alone(hidden, None), torch.tensor([[4.0 / 2.0]]))
