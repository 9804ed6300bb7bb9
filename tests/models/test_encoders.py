"""What every encoder owes: no leak through padding, no NaN without tokens, states of the width it states."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from faithboard.config import ModelConfig
from faithboard.models import ENCODERS, build
from faithboard.models.encoders import CNN, Average, Encoder
from tests.models.composed import SINGLE, SPECIALS, WORDS

DIM, HIDDEN = 5, 4


@pytest.fixture(params=sorted(ENCODERS))
def encoder(request: pytest.FixtureRequest) -> Encoder:
    torch.manual_seed(1)
    return ENCODERS[request.param](DIM, HIDDEN, "relu")


def texts() -> tuple[Tensor, Tensor]:
    states = torch.randn(3, 6, DIM, generator=torch.Generator().manual_seed(2))
    return states, torch.arange(6)[None] < torch.tensor([6, 2, 4])[:, None]


def test_width_is_the_same_for_all(encoder: Encoder) -> None:
    states, real = texts()
    hidden = encoder(states, real)
    assert hidden.shape == (3, 6, encoder.width) == (3, 6, 2 * HIDDEN)
    assert encoder.summarise(hidden, real).shape == (3, encoder.width)


def test_what_stands_on_padding_has_no_effect(encoder: Encoder) -> None:
    states, real = texts()
    noisy = torch.where(real[:, :, None], states, torch.nan)
    assert torch.equal(encoder(states, real), encoder(noisy, real))
    assert not encoder(states, real)[~real].any()


def test_extra_padding_has_no_effect(encoder: Encoder) -> None:
    states, real = texts()
    hidden = encoder(states, real)
    longer = encoder(torch.cat([states, states], 1), torch.cat([real, torch.zeros_like(real)], 1))
    torch.testing.assert_close(longer[:, :6], hidden)
    longer_real = torch.cat([real, torch.zeros_like(real)], 1)
    torch.testing.assert_close(encoder.summarise(longer, longer_real), encoder.summarise(hidden, real))


def test_a_text_without_tokens_gives_zeros_and_finite_gradients(encoder: Encoder) -> None:
    states, real = texts()
    real[1] = False
    states.requires_grad_()
    hidden = encoder(states, real)
    summary = encoder.summarise(hidden, real)
    assert not hidden[1].any()
    assert not summary[1].any()
    (hidden.sum() + summary.sum()).backward()
    assert states.grad is not None
    assert torch.isfinite(states.grad).all()
    assert not states.grad[1].any()


@pytest.mark.parametrize("shape", [(2, 0), (0, 3), (0, 0)])
def test_a_batch_without_tokens_or_texts_keeps_its_shape(encoder: Encoder, shape: tuple[int, int]) -> None:
    states = torch.zeros(*shape, DIM, requires_grad=True)
    real = torch.ones(shape, dtype=torch.bool)
    hidden = encoder(states, real)
    assert hidden.shape == (*shape, encoder.width)
    encoder.summarise(hidden, real).sum().backward()


def test_average_by_hand() -> None:
    encoder = Average(1, 2)
    with torch.no_grad():
        encoder.projection.weight.copy_(torch.tensor([[1.0], [-1.0]]))
        encoder.projection.bias.zero_()
    real = torch.tensor([[True, True, False]])
    hidden = encoder(torch.tensor([[[1.0], [3.0], [9.0]]]), real)
    assert hidden.tolist() == [[[1.0, 0.0], [3.0, 0.0], [0.0, 0.0]]]
    assert encoder.summarise(hidden, real).tolist() == [[2.0, 0.0]]


def test_average_squashes_where_it_is_asked_to() -> None:
    config = ModelConfig(encoder="average", activation="tanh", hidden=HIDDEN)
    average = build(config, SINGLE, torch.randn(WORDS, DIM), SPECIALS, seed=0).encoder
    states, real = texts()
    assert isinstance(average, Average)
    expected = torch.tanh(average.projection(states)).masked_fill(~real[:, :, None], 0.0)
    assert torch.equal(average(states, real), expected)


def test_convolutions_see_as_far_as_their_kernels() -> None:
    torch.manual_seed(0)
    encoder = CNN(1, 1)
    states = torch.randn(1, 9, 1)
    real = torch.ones(1, 9, dtype=torch.bool)
    changed = states.clone()
    changed[0, 4] += 5.0
    with torch.no_grad():
        reach = [
            (convolution(changed.mT) != convolution(states.mT))[0, 0].nonzero().flatten().tolist()
            for convolution in encoder.convolutions
        ]
    assert reach == [[4], [3, 4, 5], [2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6, 7]]
    hidden = encoder(states, real)
    assert torch.equal(encoder.summarise(hidden, real), hidden.max(1).values)
