"""LRP: a linear model and an LSTM by hand, and relevance that is conserved through every reference model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from faithboard import Method, Rng
from faithboard.models import AttentionClassifier
from faithboard.models.encoders import Average
from faithboard.models.primitives import UnderRules
from faithboard.models.readout import Linear
from faithboard.models.recurrent import BiLSTM
from tests.methods.module import module_of
from tests.models.composed import COMBINATIONS, TEXTS, batch_of, model_of

LRP = module_of("lrp.py")
METHOD: Method = LRP.lrp_epsilon
EPSILON = 0.001


def one_unit(word_values: dict[int, float], weight: float, bias: float) -> AttentionClassifier:
    """Mean of relu(value of the word) over the words, times `weight`, plus `bias`; the other units are dead."""
    model = model_of("single", "average", "uniform").double()
    assert isinstance(model.encoder, Average)
    assert isinstance(model.readout, Linear)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        for word, value in word_values.items():
            model.embedding.weight[word, 0] = value
        model.encoder.projection.weight[0, 0] = 1.0
        model.readout.output.weight[0, 0] = weight
        model.readout.output.bias.fill_(bias)
    return model


def test_a_linear_model_by_hand() -> None:
    # Two words of 2 and 4: the mean is 3, and z = 2 x 3 - 1 = 5.
    batch = batch_of("single", [5, 6])
    scores = METHOD(one_unit({5: 2.0, 6: 4.0}, 2.0, -1.0), batch, Rng(0, batch)).scores[0, 1:3]
    to_mean = 6 / (5 + EPSILON) * 5
    shares = [value / 2 / (3 + EPSILON) * to_mean * value / (value + EPSILON) for value in (2.0, 4.0)]
    torch.testing.assert_close(scores, torch.tensor(shares), rtol=1e-6, atol=0)


def test_of_two_classes_the_one_predicted_counts() -> None:
    # z = -7 is 7 for class 0: the words, for which z is lower, are evidence for it.
    batch = batch_of("single", [5, 6])
    found = METHOD(one_unit({5: 2.0, 6: 4.0}, -2.0, -1.0), batch, Rng(0, batch))
    assert found.total is not None
    assert 0 < float(found.scores[0, 1]) < float(found.scores[0, 2])
    assert float(found.total[0]) == pytest.approx(6.0, rel=2e-3)


def by_units(lstm: nn.LSTM, x: Tensor, relevance: Tensor) -> np.ndarray:
    """Relevance of each input `[token, dim]` of one text, from that of the states: loops over single units."""
    w_x, w_h, b_x, b_h = (parameter.detach().numpy() for parameter in lstm.all_weights[0])
    size = lstm.hidden_size
    inputs, bias = x.numpy(), b_x + b_h
    h, c, kept = np.zeros(size), np.zeros(size), []
    for step in inputs:
        z = w_x @ step + w_h @ h + bias
        i, f, o = (1 / (1 + np.exp(-z[k * size : (k + 1) * size])) for k in (0, 1, 3))
        pre = z[2 * size : 3 * size]
        new_c = f * c + i * np.tanh(pre)
        kept.append((h, f * c, i * np.tanh(pre), new_c, pre))
        h, c = o * np.tanh(new_c), new_c
    found = np.zeros_like(inputs)
    to_h, to_c = np.zeros(size), np.zeros(size)
    for t in reversed(range(len(inputs))):
        before, past, fresh, cell, pre = kept[t]
        arriving = to_c + to_h + relevance[t].numpy()
        to_h, to_c = np.zeros(size), np.zeros(size)
        for unit in range(size):
            whole = cell[unit] + (EPSILON if cell[unit] >= 0 else -EPSILON)
            to_c[unit] = past[unit] / whole * arriving[unit]
            through = fresh[unit] / whole * arriving[unit]
            z = pre[unit] + (EPSILON if pre[unit] >= 0 else -EPSILON)
            for dim in range(inputs.shape[1]):
                found[t, dim] += inputs[t, dim] * w_x[2 * size + unit, dim] / z * through
            for other in range(size):
                to_h[other] += before[other] * w_h[2 * size + unit, other] / z * through
    return found


@pytest.mark.parametrize("length", [1, 4])
def test_an_lstm_equals_loops_over_single_units(length: int) -> None:
    generator = torch.Generator().manual_seed(length)
    torch.manual_seed(3)
    encoder = BiLSTM(3, 2).double()
    x = torch.randn(1, length, 3, generator=generator, dtype=torch.float64)
    relevance = torch.randn(1, length, 4, generator=generator, dtype=torch.float64)
    point = x.clone().requires_grad_()
    hidden = encoder(point, torch.ones(1, length, dtype=torch.bool), UnderRules(LRP.Epsilon()))
    (found,) = torch.autograd.grad(hidden, point, relevance)
    ahead = by_units(encoder.ahead, x[0], relevance[0, :, :2])
    back = by_units(encoder.back, x[0].flip(0), relevance[0, :, 2:].flip(0))[::-1]
    np.testing.assert_allclose(found[0].numpy(), ahead + back, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize(("encoder", "attention", "layout"), COMBINATIONS)
def test_relevance_is_conserved(encoder: str, attention: str, layout: str) -> None:
    model, batch = model_of(layout, encoder, attention).double(), batch_of(layout, *TEXTS)
    logit, tokens, states = LRP.relevance(model, batch, LRP.Epsilon(share=True))
    z = model(batch).logits.detach()
    torch.testing.assert_close(logit, z.abs()[:, 0] if z.shape[1] == 1 else z.amax(1))
    assert not tokens[~batch.real].any()
    assert len(states) == {"average": 0, "cnn": 0, "bilstm": 8 if layout == "pair" else 4}[encoder]
    # All that is read: words, begin and end, query; and the initial states.
    total = tokens.sum(1) + sum(state.sum(1) for state in states)
    torch.testing.assert_close(total, logit, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("encoder", "attention", "layout"), COMBINATIONS)
def test_scores_add_up_to_the_total(encoder: str, attention: str, layout: str) -> None:
    model, batch = model_of(layout, encoder, attention), batch_of(layout, *TEXTS)
    found = METHOD(model, batch, Rng(0, batch))
    assert found.total is not None
    torch.testing.assert_close(found.scores.sum(1), found.total, rtol=1e-4, atol=1e-6)
    logit, *_ = LRP.relevance(model, batch, LRP.Epsilon())
    # Biases, query and special tokens have their part: the total is not the logit.
    assert float((found.total - logit).abs().max()) > 1e-3


@pytest.mark.parametrize("encoder", ["bilstm", "cnn", "average"])
def test_a_word_that_no_weight_reads_gets_nothing(encoder: str) -> None:
    model, batch = model_of("single", encoder), batch_of("single", [5, 6, 7])
    with torch.no_grad():
        model.embedding.weight[6] = torch.tensor([3.0, 0, 0, 0, 0, 0])
        for name, weight in model.encoder.named_parameters():
            if weight.ndim > 1 and "weight_hh" not in name:
                weight[:, 0] = 0.0
    scores = METHOD(model, batch, Rng(0, batch)).scores
    assert scores[0, 2] == 0
    assert scores[0, 1] != 0


def test_a_class_that_is_no_candidate_is_not_explained() -> None:
    model, batch = model_of("pair", "cnn"), batch_of("pair", *TEXTS)
    best = model(batch).logits.argmax(1)
    asked = replace(batch, candidates=~nn.functional.one_hot(best, 3).bool())
    logit, *_ = LRP.relevance(model, asked, LRP.Epsilon())
    torch.testing.assert_close(logit, model(batch).logits.topk(2, 1).values[:, 1].detach())


def test_stabilisers_take_the_sign_of_what_they_stabilise() -> None:
    z = torch.tensor([2.0, 0.0, -0.0, -1e-9])
    torch.testing.assert_close(LRP.stabiliser(z), torch.tensor([EPSILON, EPSILON, EPSILON, -EPSILON]))
