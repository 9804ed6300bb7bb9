"""Gradients under noise: a plain loop over Captum's saliency with the same noise, and what noise must not do."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from faithboard import TOKEN, Batch, Classifier, Rng, predict
from tests.methods.oracle import DIM, Deaf, captum_gradient, random_bilstm
from tests.toy import MIXED, BagOfWords, methods_of, recurrent, texts

METHODS = methods_of("smoothgrad.py")
NAMES = ("smoothgrad", "smoothgrad-squared", "vargrad")


def scores_of(name: str, model: Classifier, batch: Batch, seed: int = 0) -> Tensor:
    return METHODS[name](model, batch, Rng(seed, batch)).scores


def noisy_gradients(model: Classifier, batch: Batch) -> Tensor:
    """`[sample, batch, token, dim]`, text by text and sample by sample, with the noise of `Rng(0, batch)`."""
    rng = Rng(0, batch)
    noise = [rng.normal(TOKEN, DIM) for _ in range(20)]
    j = predict(model, batch).argmax(-1)
    found = torch.zeros(20, *batch.ids.shape, DIM)
    for row in range(len(batch)):
        one = batch.rows([row])
        embedded = model.embed(one).detach()
        own = embedded[one.scorable]
        sd = 0.15 * float(own.max() - own.min())
        for sample in range(20):
            point = embedded.clone()
            for token in one.scorable[0].nonzero()[:, 0].tolist():
                point[0, token] += sd * noise[sample][row, token]
            found[sample, row, : one.ids.shape[1]] = captum_gradient(model, one, point, j[row : row + 1])[0]
    return found.double()


@pytest.mark.parametrize("classes", [2, 3])
def test_equals_a_loop_over_captum(classes: int) -> None:
    model, batch = random_bilstm(classes=classes, sharpened=5.0), texts("good film", "bad dull nice | what", "dull")
    gradients = noisy_gradients(model, batch)
    expected = {
        "smoothgrad": gradients.mean(0).norm(dim=-1),
        "smoothgrad-squared": (gradients**2).sum(-1).mean(0),
        "vargrad": gradients.var(0, correction=0).sum(-1),
    }
    for name in NAMES:
        torch.testing.assert_close(
            scores_of(name, model, batch),
            expected[name].float().masked_fill(~batch.scorable, 0.0),
            rtol=1e-4,
            atol=1e-9,
        )


def test_mean_square_is_square_of_the_mean_and_variance() -> None:
    # Elementwise: E|g|^2 = |E g|^2 + sum_d var g_d, on the same noise.
    model, batch = random_bilstm(sharpened=5.0), texts(*MIXED)
    mean, square, variance = (scores_of(name, model, batch) for name in NAMES)
    torch.testing.assert_close(square, mean**2 + variance, rtol=1e-4, atol=1e-12)


def test_a_text_without_any_range_has_no_noise() -> None:
    # One word of one dimension: the noise has nothing to be measured by, so all samples are the text itself.
    model, batch = BagOfWords(), texts("good")
    slope = float(predict(model, batch).prod())
    assert float(scores_of("smoothgrad", model, batch)[0, 1]) == pytest.approx(slope)
    assert float(scores_of("smoothgrad-squared", model, batch)[0, 1]) == pytest.approx(slope**2)
    assert float(scores_of("vargrad", model, batch)[0, 1]) == 0


def test_the_class_is_that_of_the_full_text() -> None:
    # z = 0.25 and much noise: some samples are of the other class, whose gradient points the other way.
    batch = texts("what good bad")
    model = BagOfWords()
    mean = float(scores_of("smoothgrad", model, batch)[0, 1])
    square = float(scores_of("smoothgrad-squared", model, batch)[0, 1])
    # p0 p1 changes little there, so the mean is as long as a single gradient; with turned signs it would not be.
    assert mean > 0.95 * square**0.5


@pytest.mark.parametrize("name", NAMES)
def test_noise_lies_on_scorable_tokens_alone_and_scales_with_the_range(name: str) -> None:
    model, batch, seen = random_bilstm(), texts("good film nice | what bad"), []
    own = model.embed(batch).detach()
    model.register_forward_pre_hook(
        lambda _, given, named: seen.append(named["embedded"].detach()) if "embedded" in named else None,
        with_kwargs=True,
    )
    scores_of(name, model, batch)
    noise = torch.cat(seen) - own
    assert len(noise) == 20
    assert not noise[:, ~batch.scorable[0]].any()
    words = own[batch.scorable]
    sd = 0.15 * float(words.max() - words.min())
    assert float(noise[:, batch.scorable[0]].std()) == pytest.approx(sd, rel=0.1)


@pytest.mark.parametrize("name", NAMES)
def test_a_token_that_the_model_cannot_hear_has_nothing(name: str) -> None:
    batch = texts("good film nice film", "film bad | film")
    film = int(batch.ids[0, 2])
    scores = scores_of(name, Deaf(recurrent(), film), batch)
    assert not scores[batch.ids == film].any()
    assert bool((scores[batch.scorable & (batch.ids != film)] != 0).all())


def test_all_are_stochastic_and_unsigned() -> None:
    assert set(METHODS) == set(NAMES)
    assert all(method.stochastic and not method.signed and method.draws == 1 for method in METHODS.values())
