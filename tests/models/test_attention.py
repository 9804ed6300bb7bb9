"""Attention by hand."""

from __future__ import annotations

import math

import torch

from faithboard.batch import Batch
from faithboard.models.attention import Additive, Dot, Random, Uniform
from faithboard.models.primitives import PLAIN
from tests.toy import texts

ANY = texts("good")
"""A batch for attention that looks at states alone."""


def drawn(batch: Batch, seed: int = 0) -> torch.Tensor:
    """The frozen random scores of a batch."""
    return Random(seed)(torch.zeros(*batch.ids.shape, 3), None, batch)


def test_softmax_over_attended_tokens_only() -> None:
    scores = torch.tensor([[0.0, math.log(3.0), 50.0]])
    alpha = PLAIN.softmax(scores, torch.tensor([[True, True, False]]))
    torch.testing.assert_close(alpha, torch.tensor([[0.25, 0.75, 0.0]]))


def test_nothing_to_attend_to_gives_zeros_and_a_finite_gradient() -> None:
    scores = torch.zeros(2, 3, requires_grad=True)
    alpha = PLAIN.softmax(scores, torch.tensor([[False] * 3, [True] * 3]))
    assert alpha[0].tolist() == [0.0, 0.0, 0.0]
    alpha.square().sum().backward()
    assert scores.grad is not None
    assert torch.isfinite(scores.grad).all()
    assert PLAIN.softmax(torch.zeros(2, 0), torch.zeros(2, 0, dtype=torch.bool)).shape == (2, 0)


def test_additive_scores_by_hand() -> None:
    additive = Additive(2, query=True)
    assert additive.query is not None
    with torch.no_grad():
        additive.state.weight.copy_(torch.tensor([[1.0, 0.0]]))
        additive.state.bias.fill_(0.5)
        additive.query.weight.copy_(torch.tensor([[0.0, 2.0]]))
        additive.score.weight.fill_(3.0)
    scores = additive(torch.tensor([[[1.0, 9.0], [-1.0, 9.0]]]), torch.tensor([[9.0, 0.25]]), ANY)
    expected = [3 * math.tanh(1.0 + 0.5 + 0.5), 3 * math.tanh(-1.0 + 0.5 + 0.5)]
    torch.testing.assert_close(scores, torch.tensor([expected]))


def test_dot_is_scaled_by_the_root_of_the_width() -> None:
    hidden = torch.tensor([[[1.0, 2.0, 3.0, 4.0]]])
    with_query = Dot(4, query=True)(hidden, torch.tensor([[1.0, 1.0, 0.0, 1.0]]), ANY)
    torch.testing.assert_close(with_query, torch.tensor([[7.0 / 2.0]]))
    alone = Dot(4, query=False)
    assert alone.score is not None
    with torch.no_grad():
        alone.score.weight.copy_(torch.tensor([[0.0, 0.0, 0.0, 1.0]]))
    torch.testing.assert_close(alone(hidden, None, ANY), torch.tensor([[4.0 / 2.0]]))


def test_uniform_scores_make_a_mean_of_the_attended_states() -> None:
    hidden = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(0))
    attended = torch.tensor([[False, True, True, False], [False] * 4])
    alpha = PLAIN.softmax(Uniform()(hidden, None, ANY), attended)
    assert alpha.tolist() == [[0.0, 0.5, 0.5, 0.0], [0.0] * 4]


def test_random_scores_belong_to_example_and_position() -> None:
    batch = texts("good film", "bad dull film nice", "nice " * 40)
    scores = drawn(batch)
    # Sixteen and more numbers are where generators that draw in blocks change the first ones.
    assert torch.equal(drawn(batch.padded_to(70))[:, : scores.shape[1]], scores)
    assert torch.equal(drawn(batch.rows([2, 0]))[:, :4], scores[[2, 0], :4])
    assert torch.equal(drawn(batch.rows([0])), scores[:1, :4])
    assert torch.equal(drawn(batch.repeat(2)), scores.repeat_interleave(2, 0))
    assert len(scores.unique()) == scores.numel()
    assert not torch.equal(drawn(batch, seed=1), scores)


def test_random_scores_are_standard_normal() -> None:
    long = drawn(texts(*["good " * 200] * 50)).double()
    assert abs(float(long.mean())) < 0.03
    assert abs(float(long.std()) - 1) < 0.03


def test_after_a_deletion_what_moves_up_takes_the_score_of_its_new_position() -> None:
    batch = texts("bad dull film nice")
    drop = torch.zeros_like(batch.scorable)
    drop[0, 2] = True
    assert torch.equal(drawn(batch.without(drop)), drawn(batch)[:, :5])
