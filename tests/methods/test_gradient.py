"""Gradient methods: a linear model by hand, and Captum on a recurrent one."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from faithboard import Batch, Classifier, Rng, predict
from tests.toy import MIXED, SEVERAL, BagOfWords, methods_of, recurrent, texts

METHODS = methods_of("gradient.py")


def scores_of(name: str, model: Classifier, batch: Batch) -> Tensor:
    return METHODS[name](model, batch, Rng(0, batch)).scores


def test_two_classes_by_hand() -> None:
    batch = texts("good bad bad", "good film")
    p = predict(BagOfWords(), batch).prod(1).float()
    torch.testing.assert_close(scores_of("gradient-l2", BagOfWords(), batch)[0, 1:4], p[0].expand(3))
    # Class 0 is predicted for the first text: `bad` is evidence for it, `good` against.
    expected = torch.tensor([-2.0, 2.0, 2.0]) * p[0]
    torch.testing.assert_close(scores_of("gradient-x-input", BagOfWords(), batch)[0, 1:4], expected)
    torch.testing.assert_close(
        scores_of("gradient-x-input", BagOfWords(), batch)[1, 1:3], torch.tensor([2.0, 0.0]) * p[1]
    )


def test_several_classes_by_hand() -> None:
    batch = texts("good nice")
    p = predict(BagOfWords(SEVERAL), batch)[0]
    direction = p[0] * (torch.tensor([1.0, 0, 0, 0]) - p)
    weights = torch.tensor([SEVERAL["good"], SEVERAL["nice"]]).double()
    torch.testing.assert_close(
        scores_of("gradient-l2", BagOfWords(SEVERAL), batch)[0, 1:3], direction.norm().float().expand(2)
    )
    torch.testing.assert_close(
        scores_of("gradient-x-input", BagOfWords(SEVERAL), batch)[0, 1:3], (weights @ direction).float()
    )


def test_with_attention_fixed_by_hand() -> None:
    batch = texts("good dull film")
    alpha = torch.tensor([2.0, -1.0, 0.0]).softmax(0)
    expected = alpha * torch.tensor([2.0, 1.0, 0.0])
    found = scores_of("gradient-x-input-fixed-attention", BagOfWords(attends=True), batch)[0, 1:4]
    torch.testing.assert_close(found, expected / expected.sum())


def test_a_text_without_any_gradient_keeps_zeros() -> None:
    batch = texts("film film")
    found = scores_of("gradient-x-input-fixed-attention", BagOfWords(attends=True), batch)
    assert found.tolist() == [[0.0, 0.0, 0.0, 0.0]]


def test_a_sure_model_does_not_tie_everything() -> None:
    batch = texts("good nice dull")
    scores = scores_of("gradient-x-input", BagOfWords(bias=50.0), batch)[0, 1:4]
    torch.testing.assert_close(scores / scores[1], torch.tensor([2.0, 1.0, -1.0]))
    # The gradient is 1e-26, and its square is no float32.
    sure = BagOfWords({"good": (60.0, 0.0)})
    assert bool((scores_of("gradient-l2", sure, texts("good film"))[0, 1:3] > 0).all())


@pytest.mark.parametrize("training", [True, False])
def test_equals_captum(training: bool) -> None:
    captum_attr = pytest.importorskip("captum.attr", reason="Captum is an oracle for tests only")
    model, batch = recurrent().train(training), texts(*MIXED)
    j = predict(model, batch).argmax(-1)
    point = model.embed(batch).detach().requires_grad_()

    def probability(embedded: Tensor) -> Tensor:
        return model(batch, embedded=embedded).log_probabilities().exp()

    gradient = captum_attr.Saliency(probability).attribute(point, target=j, abs=False)
    product = captum_attr.InputXGradient(probability).attribute(point, target=j)
    outside = ~batch.scorable
    for name, expected in (("gradient-l2", gradient.norm(dim=-1)), ("gradient-x-input", product.sum(-1))):
        torch.testing.assert_close(
            scores_of(name, model, batch), expected.detach().masked_fill(outside, 0.0), rtol=1e-4, atol=1e-7
        )


def test_signs_and_needs_are_declared() -> None:
    assert {name: m.signed for name, m in METHODS.items()} == {
        "gradient-l2": False,
        "gradient-x-input": True,
        "gradient-x-input-fixed-attention": False,
    }
    assert METHODS["gradient-x-input-fixed-attention"].needs == {"gradients", "attention"}
