"""Gradient methods: a linear model by hand, and Captum on a recurrent one."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from faithboard import Batch, Classifier, Rng, predict
from tests.methods.oracle import Deaf, probability, random_bilstm
from tests.toy import MIXED, SEVERAL, BagOfWords, methods_of, texts

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
@pytest.mark.parametrize("classes", [2, 3])
def test_equals_captum(classes: int, training: bool) -> None:
    captum_attr = pytest.importorskip("captum.attr", reason="Captum is an oracle for tests only")
    model, batch = random_bilstm(classes=classes).train(training), texts(*MIXED)
    j = predict(model, batch).argmax(-1)
    point = model.embed(batch).detach().requires_grad_()
    model.eval()
    gradient = captum_attr.Saliency(probability(model, batch)).attribute(point, target=j, abs=False)
    product = captum_attr.InputXGradient(probability(model, batch)).attribute(point, target=j)
    model.train(training)
    expected = {"gradient-l2": gradient.norm(dim=-1), "gradient-l1": gradient.abs().sum(-1)}
    for name, scores in {**expected, "gradient-x-input": product.sum(-1)}.items():
        torch.testing.assert_close(
            scores_of(name, model, batch), scores.detach().masked_fill(~batch.scorable, 0.0), rtol=1e-4, atol=1e-7
        )


def test_logits_equal_captum() -> None:
    captum_attr = pytest.importorskip("captum.attr", reason="Captum is an oracle for tests only")
    model, batch = random_bilstm(classes=4), texts(*MIXED)
    j = predict(model, batch).argmax(-1)
    point = model.embed(batch).detach().requires_grad_()

    def logits(embedded: Tensor) -> Tensor:
        return model(batch, embedded=embedded).logits

    gradient = captum_attr.Saliency(logits).attribute(point, target=j, abs=False)
    product = captum_attr.InputXGradient(logits).attribute(point, target=j)
    expected = {"gradient-l2-logit": gradient.norm(dim=-1), "gradient-l1-logit": gradient.abs().sum(-1)}
    for name, scores in {**expected, "gradient-x-input-logit": product.sum(-1)}.items():
        torch.testing.assert_close(
            scores_of(name, model, batch), scores.detach().masked_fill(~batch.scorable, 0.0), rtol=1e-4, atol=1e-7
        )


def test_norms_by_hand() -> None:
    batch = texts("good nice")
    p = predict(BagOfWords(SEVERAL), batch)[0]
    direction = p[0] * (torch.tensor([1.0, 0, 0, 0]) - p)
    summed = direction.abs().sum().float().expand(2)
    torch.testing.assert_close(scores_of("gradient-l1", BagOfWords(SEVERAL), batch)[0, 1:3], summed)


def test_logits_by_hand() -> None:
    # Class 0 is predicted first and class 2 second: a word adds its own weight to the logit, and no other counts.
    model, batch = BagOfWords(SEVERAL), texts("good nice", "bad dull film")
    assert scores_of("gradient-x-input-logit", model, batch)[0, 1:3].tolist() == [2.0, 1.0]
    assert scores_of("gradient-x-input-logit", model, batch)[1, 1:4].tolist() == [1.5, 1.0, 0.0]
    for name in ("gradient-l2-logit", "gradient-l1-logit"):
        assert scores_of(name, model, batch)[1, 1:4].tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("name", [name for name in METHODS if "fixed" not in name])
def test_a_token_that_the_model_cannot_hear_has_nothing(name: str) -> None:
    batch = texts("good film nice film", "film bad | film")
    film = int(batch.ids[0, 2])
    scores = scores_of(name, Deaf(random_bilstm(), film), batch)
    assert not scores[batch.ids == film].any()
    assert bool((scores[batch.scorable & (batch.ids != film)] != 0).all())


def test_signs_and_needs_are_declared() -> None:
    assert {name for name, m in METHODS.items() if m.signed} == {"gradient-x-input", "gradient-x-input-logit"}
    assert METHODS["gradient-x-input-fixed-attention"].needs == {"gradients", "attention"}
    # With two classes the logit ranks as the probability does.
    logits = {name for name, m in METHODS.items() if "several-classes" in m.needs}
    assert logits == {"gradient-l2-logit", "gradient-l1-logit", "gradient-x-input-logit"}
