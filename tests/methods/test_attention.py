"""Attention as scores: weights, weights times gradient, weights times the length of the states."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from faithboard import Batch, Classifier, Output, Rng, predict
from faithboard.classifier import count_steps
from tests.methods.oracle import random_bilstm
from tests.toy import BINARY, MIXED, SEVERAL, BagOfWords, methods_of, texts

METHODS = methods_of("attention.py")


class Decoding(BagOfWords):
    """The words' weights are the states, so a context is a sum of weights."""

    def __init__(self, weights: dict[str, tuple[float, ...]], bias: float = 0.0) -> None:
        super().__init__(weights, bias, attends=True)
        self.capabilities |= {"decode"}

    def decode(self, hidden: Tensor, attention: Tensor, batch: Batch, query: Tensor | None = None) -> Tensor:
        weight = torch.where(batch.segment == 0, attention, 1.0)
        return self.bias + (weight[:, :, None] * hidden).sum(1)


def scores_of(name: str, model: Classifier, batch: Batch) -> Tensor:
    return METHODS[name](model, batch, Rng(0, batch)).scores


def test_weights_by_hand() -> None:
    scores = scores_of("attention", BagOfWords(attends=True), texts("good nice film", "dull"))
    torch.testing.assert_close(scores[0, 1:4], torch.tensor([2.0, 1.0, 0.0]).softmax(0))
    assert scores[1].tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]


def test_sums_to_one_over_the_scorable_tokens() -> None:
    batch = texts(*MIXED)
    scores = scores_of("attention", BagOfWords(attends=True), batch)
    torch.testing.assert_close(scores.sum(1), torch.ones(len(batch)))
    assert METHODS["attention"].needs == {"attention"}


@pytest.mark.parametrize("bias", [-3.0, 0.0, 40.0])
def test_gradient_of_two_classes_by_hand(bias: float) -> None:
    # dp/dalpha_t = p0 p1 w_t towards class 1, and the other way towards class 0.
    model, batch = Decoding(dict(BINARY), bias), texts("good bad film", "dull nice | what")
    alpha, p = model(batch).attention, predict(model, batch)
    sign = torch.where(p.argmax(1) == 1, 1.0, -1.0)
    words = model.embed(batch)[:, :, 0]
    expected = (alpha * words * (sign * p.prod(1))[:, None]).float().masked_fill(~batch.scorable, 0.0)
    found = scores_of("attention-gradient", model, batch)
    torch.testing.assert_close(found, expected.detach(), rtol=1e-5, atol=0)
    assert found[0, 1] * found[0, 2] < 0


def test_gradient_of_several_classes_by_hand() -> None:
    model, batch = Decoding(dict(SEVERAL)), texts("bad good nice")
    alpha, p = model(batch).attention[0], predict(model, batch)[0]
    j = int(p.argmax())
    direction = p[j] * (torch.nn.functional.one_hot(torch.tensor(j), 4) - p)
    expected = alpha * (model.embed(batch)[0].double() @ direction)
    torch.testing.assert_close(scores_of("attention-gradient", model, batch)[0, 1:4], expected[1:4].float().detach())


def test_norm_by_hand() -> None:
    model, batch = Decoding(dict(SEVERAL)), texts("good nice film")
    alpha = torch.tensor([2.0, 1.0, 0.0]).softmax(0)
    lengths = torch.tensor([SEVERAL[word] for word in ("good", "nice", "film")]).norm(dim=1)
    torch.testing.assert_close(scores_of("attention-norm", model, batch)[0, 1:4], alpha * lengths)


@pytest.mark.parametrize("classes", [2, 3])
def test_gradient_equals_finite_differences_of_the_weights(classes: int) -> None:
    model, batch = random_bilstm(classes=classes).double(), texts(*MIXED)
    with torch.no_grad():
        output = model(batch)
    assert output.attention is not None
    assert output.hidden is not None
    j = predict(model, batch).argmax(1)
    found = scores_of("attention-gradient", model, batch)
    for row, token in batch.scorable.nonzero().tolist():
        moved = []
        for step in (1e-5, -1e-5):
            weights = output.attention.clone()
            weights[row, token] += step
            with torch.no_grad():
                p = Output(model.decode(output.hidden, weights, batch, output.query)).log_probabilities().exp()
            moved.append(float(p[row, j[row]]))
        expected = float(output.attention[row, token]) * (moved[0] - moved[1]) / 2e-5
        assert float(found[row, token]) == pytest.approx(expected, rel=1e-4, abs=1e-9)


def test_norm_equals_a_plain_loop() -> None:
    model, batch = random_bilstm(), texts(*MIXED)
    with torch.no_grad():
        output = model(batch)
    assert output.attention is not None
    assert output.hidden is not None
    found = scores_of("attention-norm", model, batch)
    for row, token in batch.scorable.nonzero().tolist():
        length = float((output.hidden[row, token] ** 2).sum()) ** 0.5
        assert float(found[row, token]) == pytest.approx(float(output.attention[row, token]) * length, rel=1e-5)


@pytest.mark.parametrize("name", METHODS)
def test_one_pass_forward_is_all(name: str) -> None:
    model, batch = random_bilstm(), texts("good nice film | what bad")
    with count_steps(model) as steps:
        scores_of(name, model, batch)
    assert (steps.forward, steps.backward) == (7, 0)


def test_states_that_are_missing_are_named() -> None:
    class Silent(Decoding):
        def forward(self, *given: object, **named: object) -> Output:
            output = super().forward(*given, **named)  # type: ignore[arg-type]
            return Output(output.logits, output.attention)

    with pytest.raises(ValueError, match="Silent says it can decode, but gives no attention or no states"):
        scores_of("attention-norm", Silent(dict(SEVERAL)), texts("good film"))


def test_signs_and_needs_are_declared() -> None:
    assert {name: method.signed for name, method in METHODS.items()} == {
        "attention": False,
        "attention-gradient": True,
        "attention-norm": False,
    }
    assert METHODS["attention-gradient"].needs == {"attention", "decode", "gradients"}
    assert METHODS["attention-norm"].needs == {"attention", "decode"}
