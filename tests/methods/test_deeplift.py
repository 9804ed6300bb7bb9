"""DeepLIFT: complete through every reference model, Captum where there is neither attention nor recurrence."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from faithboard import Attribution, Batch, Classifier, Method, Rng, predict, predicted_class
from faithboard.models.encoders import CNN, Average
from faithboard.models.readout import Dense, Linear, Pair
from tests.methods.module import module_of
from tests.models.composed import COMBINATIONS, TEXTS, batch_of, model_of
from tests.toy import MIXED, background, recurrent, texts

DEEPLIFT = module_of("deeplift.py")
METHOD: Method = DEEPLIFT.deeplift
RULES = DEEPLIFT.Rescale()


def probability(model: Classifier, batch: Batch, embedded: Tensor) -> Tensor:
    """p_j at `embedded`, j being the class predicted at the text itself."""
    j = predicted_class(predict(model, batch))[:, None]
    p = model(batch, embedded=embedded).log_probabilities(batch.candidates).exp()
    return p.gather(1, j)[:, 0].detach()


def change(model: Classifier, batch: Batch) -> Tensor:
    """p_j(x) - p_j(x0), from two passes of the plain model."""
    embedded = model.embed(batch)
    baseline = embedded.masked_fill(batch.scorable[:, :, None], 0.0)
    return probability(model, batch, embedded) - probability(model, batch, baseline)


def halves(x: Tensor, x0: Tensor) -> Tensor:
    return torch.cat([x, x0]).double()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("encoder", "attention", "layout"), COMBINATIONS)
def test_complete_through_every_model(encoder: str, attention: str, layout: str, dtype: torch.dtype) -> None:
    model, batch = model_of(layout, encoder, attention).to(dtype), batch_of(layout, *TEXTS)
    found = METHOD(model, batch, Rng(0, batch))
    assert found.total is not None
    assert float(found.total.abs().max()) > 1e-3
    torch.testing.assert_close(found.total.double(), change(model, batch), rtol=0, atol=1e-6)
    torch.testing.assert_close(found.scores.sum(1), found.total, rtol=0, atol=1e-6)


def test_complete_where_the_model_is_sure_and_attends_sharply() -> None:
    model, batch = model_of("pair").double(), batch_of("pair", *TEXTS)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(4.0)
    exact = METHOD.explain(model, batch, Rng(0, batch))
    assert isinstance(exact, Attribution)
    assert exact.total is not None
    torch.testing.assert_close(exact.scores.sum(1), exact.total, rtol=0, atol=1e-9)
    torch.testing.assert_close(exact.total, change(model, batch), rtol=0, atol=1e-12)


def test_only_candidates_take_part() -> None:
    model, batch = model_of("pair", "cnn"), batch_of("pair", *TEXTS)
    best = model(batch).logits.argmax(1)
    asked = replace(batch, candidates=~nn.functional.one_hot(best, 3).bool())
    found = METHOD(model, asked, Rng(0, asked))
    assert found.total is not None
    torch.testing.assert_close(found.scores.sum(1), found.total, rtol=0, atol=1e-6)
    torch.testing.assert_close(found.total.double(), change(model, asked), rtol=0, atol=1e-6)
    assert not torch.allclose(found.scores, METHOD(model, batch, Rng(0, batch)).scores)


class Layers(nn.Module):
    """The layers of a reference model with uniform attention as modules that Captum knows, up to the sigmoid."""

    def __init__(self, model: Classifier, batch: Batch) -> None:
        super().__init__()
        encoder, readout = model.encoder, model.readout
        assert isinstance(encoder, CNN | Average)
        assert isinstance(readout, Dense)
        self.encoder, self.dense, self.output = encoder, readout.dense, readout.output
        self.relu, self.other_relu, self.sigmoid = nn.ReLU(), nn.ReLU(), nn.Sigmoid()
        self.batch = batch

    def forward(self, embedded: Tensor) -> Tensor:
        words = self.batch.real & (self.batch.ids != self.batch.specials.sep)
        # Captum runs text and baseline as one batch of two halves.
        times = len(embedded) // len(self.batch)
        real, words = self.batch.real.repeat(times, 1), words.repeat(times, 1)
        states = embedded.masked_fill(~real[:, :, None], 0.0)
        if isinstance(self.encoder, Average):
            hidden = self.encoder.projection(states)
        else:
            hidden = torch.cat([layer(states.transpose(1, 2)) for layer in self.encoder.convolutions], 1)
            hidden = hidden.transpose(1, 2)
        hidden = self.relu(hidden).masked_fill(~words[:, :, None], 0.0)
        context = hidden.sum(1) / words.sum(1, keepdim=True)
        return self.sigmoid(self.output(self.other_relu(self.dense(context))))


@pytest.mark.parametrize("encoder", ["average", "cnn"])
@pytest.mark.filterwarnings("ignore:Setting forward, backward hooks:UserWarning")
def test_equals_captum(encoder: str) -> None:
    captum_attr = pytest.importorskip("captum.attr", reason="Captum is an oracle for tests only")
    model, batch = model_of("sequence", encoder, "uniform").double(), batch_of("sequence", *TEXTS)
    assert isinstance(model.readout, Dense)
    with torch.no_grad():
        model.readout.output.weight.mul_(10.0)
    embedded = model.embed(batch).detach().requires_grad_()
    baseline = embedded.masked_fill(batch.scorable[:, :, None], 0.0)
    layers = Layers(model, batch)
    sign = predicted_class(predict(model, batch)) * 2 - 1
    expected = captum_attr.DeepLift(layers).attribute(embedded, baselines=baseline, target=0)
    found = METHOD(model, batch, Rng(0, batch)).scores
    torch.testing.assert_close(found.double(), sign[:, None] * expected.sum(-1).detach(), rtol=1e-5, atol=1e-8)
    assert float(found.abs().max()) > 0.01


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


@pytest.mark.parametrize("kind", ["tanh", "sigmoid", "relu"])
def test_ratios_of_nonlinearities(kind: str) -> None:
    f = {"tanh": torch.tanh, "sigmoid": torch.sigmoid, "relu": torch.relu}[kind]
    x = torch.tensor([-30.0, -2.0, -0.5, 0.5, 3.0, 30.0])
    pairs = torch.cartesian_prod(x, x)
    both = halves(pairs[:, 0], pairs[:, 1])
    ratio = RULES.nonlinear(kind, both, f(both), torch.ones_like(both)).chunk(2)[0]
    apart = pairs[:, 0] != pairs[:, 1]
    expected = (f(pairs[:, 0].double()) - f(pairs[:, 1].double())) / (pairs[:, 0] - pairs[:, 1])
    torch.testing.assert_close(ratio[apart], expected[apart], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["tanh", "sigmoid", "relu"])
@pytest.mark.parametrize("distance", [0.0, 1e-30, 1e-7])
def test_the_ratio_becomes_the_derivative_without_losing_digits(kind: str, distance: float) -> None:
    f = {"tanh": torch.tanh, "sigmoid": torch.sigmoid, "relu": torch.relu}[kind]
    x = torch.tensor([-1.0, -0.25, 0.25, 1.0])
    both = torch.cat([x + distance, x])
    ratio = RULES.nonlinear(kind, both, f(both), torch.ones_like(both)).chunk(2)[0]
    point = x.clone().requires_grad_()
    (derivative,) = torch.autograd.grad(f(point).sum(), point)
    torch.testing.assert_close(ratio, derivative, rtol=1e-5, atol=0)


def test_a_product_is_split_in_half() -> None:
    # 3 x 5 - 1 x 2 = 13 = (3 - 1)(5 + 2)/2 + (5 - 2)(3 + 1)/2.
    gate, signal = (halves(torch.tensor([a]), torch.tensor([b])) for a, b in ((3.0, 1.0), (5.0, 2.0)))
    to_gate, to_signal = RULES.product(gate, signal, gate * signal, torch.ones_like(gate))
    assert float(to_gate[0]) == 3.5
    assert float(to_signal[0]) == 2.0


def test_softmax_is_exp_sum_reciprocal_and_product() -> None:
    s, s0, m = (torch.randn(4, 3, generator=torch.Generator().manual_seed(seed)).double() for seed in range(3))
    among = torch.tensor([[True, True, True]] * 3 + [[True, False, True]])
    found = DEEPLIFT.softmax_multipliers(s, s0, among, m)
    for row in range(4):
        at = among[row]
        e, e0 = s[row, at].exp(), s0[row, at].exp()
        r, r0 = 1 / e.sum(), 1 / e0.sum()
        to_r = (m[row, at] * (e + e0) / 2).sum()
        to_sum = to_r * (r - r0) / (e.sum() - e0.sum())
        to_e = m[row, at] * (r + r0) / 2 + to_sum
        torch.testing.assert_close(found[row, at], to_e * (e - e0) / (s - s0)[row, at])
    assert not found[~among].any()


def test_softmax_of_large_scores_of_equal_halves_and_of_none() -> None:
    one = torch.tensor([[1.0, 2.0, 4.0]]).double()
    among, m = torch.ones(1, 3, dtype=torch.bool), torch.tensor([[1.0, 0.0, -1.0]]).double()
    shifted = DEEPLIFT.softmax_multipliers(one + 5000, one + 5001, among, m)
    torch.testing.assert_close(shifted, DEEPLIFT.softmax_multipliers(one, one + 1, among, m))
    a = one.softmax(1)
    torch.testing.assert_close(DEEPLIFT.softmax_multipliers(one, one, among, m), a * (m - (a * m).sum()))
    assert DEEPLIFT.softmax_multipliers(one, one, ~among, m).tolist() == [[0.0, 0.0, 0.0]]


def test_a_maximum_is_complete_whichever_side_is_larger() -> None:
    h = torch.rand(2, 5, 6, generator=torch.Generator().manual_seed(0)).double()
    real = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    h = h.masked_fill(~real[:, :, None], 0.0)
    h0 = h.roll(1, 2) * torch.tensor([0.5, 2.0])[:, None, None]
    both = torch.cat([h, h0])
    m = RULES.maximum(both, real.repeat(2, 1), both.amax(1), torch.ones(4, 6).double()).chunk(2)[0]
    torch.testing.assert_close((m * (h - h0)).sum(1), h.amax(1) - h0.amax(1))
    assert bool(((m >= 0) & (m <= 1)).all())
    assert not m[~real].any()
    alike = torch.cat([h, h])
    same = RULES.maximum(alike, real.repeat(2, 1), alike.amax(1), torch.ones(4, 6).double()).chunk(2)[0]
    torch.testing.assert_close(same, nn.functional.one_hot(h.argmax(1), 5).transpose(1, 2).double())


def test_deep_shap_is_the_mean_over_texts_of_background_words(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = recurrent(), texts(*MIXED)
    known = background(*MIXED)
    method: Method = DEEPLIFT.deep_shap.given(known)
    found = method(model, batch, Rng(0, batch))
    rng, embedded = Rng(0, batch), model.embed(batch).detach()
    scores, total = torch.zeros(batch.ids.shape).double(), torch.zeros(len(batch)).double()
    for _ in range(DEEPLIFT.DRAWS):
        baseline = model.embed(batch.replaced(batch.scorable, known.drawn(rng))).detach()
        scores += DEEPLIFT.differences(model, batch, embedded, baseline)[0] / DEEPLIFT.DRAWS
        total += probability(model, batch, embedded) - probability(model, batch, baseline)
    torch.testing.assert_close(found.scores.double(), scores, rtol=1e-4, atol=1e-6)
    assert found.total is not None
    torch.testing.assert_close(found.total.double(), total / DEEPLIFT.DRAWS, rtol=0, atol=1e-6)
    torch.testing.assert_close(found.scores.sum(1), found.total, rtol=0, atol=1e-5)
    monkeypatch.setattr("faithboard.rules.token_budget", lambda device, gradients: 1)
    torch.testing.assert_close(method(model, batch, Rng(0, batch)).scores, found.scores, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("layout", ["single", "pair"])
def test_a_sure_model_keeps_its_digits(layout: str) -> None:
    model, batch = model_of(layout, "average").double(), batch_of(layout, *TEXTS)
    assert isinstance(model.readout, Linear | Pair)
    with torch.no_grad():
        model.readout.output.bias[0] = 0.0
    plain, sure = model, 50.0
    with torch.no_grad():
        z = plain(batch).logits
        model.readout.output.bias[0] = sure
    found = METHOD.explain(model, batch, Rng(0, batch))
    assert isinstance(found, Attribution)
    assert found.total is not None
    assert float(found.total.abs().max()) < 1e-18
    torch.testing.assert_close(found.scores.sum(1), found.total, rtol=1e-6, atol=0)
    if z.shape[1] == 1:
        baseline = model.embed(batch).masked_fill(batch.scorable[:, :, None], 0.0)
        z0 = model(batch, embedded=baseline).logits.detach() - sure
        torch.testing.assert_close(found.total, ((-z0).exp() - (-z).exp())[:, 0] * math.exp(-sure), rtol=1e-6, atol=0)
