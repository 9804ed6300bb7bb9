"""Expected gradients: a plain loop over Captum's saliency with the same draws, and the linear model."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from faithboard import TOKEN, Background, Batch, Classifier, Rng, predict
from tests.methods.oracle import DIM, Deaf, captum_gradient, random_bilstm
from tests.toy import MIXED, BagOfWords, background, methods_of, recurrent, texts

METHOD = methods_of("gradient_shap.py")["gradient-shap"]


def scores_of(model: Classifier, batch: Batch, training: Background, seed: int = 0) -> Tensor:
    return METHOD.given(training)(model, batch, Rng(seed, batch)).scores


@pytest.mark.parametrize("classes", [2, 3])
def test_equals_a_loop_over_captum(classes: int) -> None:
    model, batch = random_bilstm(classes=classes, sharpened=5.0), texts("good film", "bad dull nice | what", "dull")
    training, rng = background(*MIXED), Rng(0, batch)
    drawn = [(training.drawn(rng), rng.normal(TOKEN, DIM), rng.uniform(1)) for _ in range(20)]
    j = predict(model, batch).argmax(-1)
    expected = torch.zeros(batch.ids.shape)
    for row in range(len(batch)):
        one = batch.rows([row])
        embedded = model.embed(one).detach()
        own = embedded[one.scorable]
        sd = 0.09 * float(own.max() - own.min())
        for words, noise, u in drawn:
            point, way = embedded.clone(), torch.zeros_like(embedded)
            for token in one.scorable[0].nonzero()[:, 0].tolist():
                other = model.embedding.weight[words[row, token]].detach()
                way[0, token] = embedded[0, token] + sd * noise[row, token] - other
                point[0, token] = other + u[row] * way[0, token]
            gradient = captum_gradient(model, one, point, j[row : row + 1])
            expected[row, : one.ids.shape[1]] += (way * gradient).sum(-1)[0] / 20
    torch.testing.assert_close(scores_of(model, batch, training), expected, rtol=1e-4, atol=1e-7)


def test_the_background_word_itself_has_little() -> None:
    # All training words are `film`, which is 0 here: without noise its score would be 0, and the others' their share.
    batch = texts("good film bad bad")
    scores = scores_of(BagOfWords(), batch, background("film film"))[0, 1:5]
    assert scores[0] < 0 < scores[2]
    assert abs(float(scores[1])) < 0.1 * abs(float(scores[0]))


def test_sums_to_the_mean_change_on_average() -> None:
    training, batch, model = background("film", "dull"), texts("good nice | what"), BagOfWords()
    total = sum(float(scores_of(model, batch, training, seed).sum()) for seed in range(60)) / 60
    others = [texts(f"{a} {b} | what") for a in ("film", "dull") for b in ("film", "dull")]
    p = float(predict(model, batch)[0, 1])
    expected = p - sum(float(predict(model, other)[0, 1]) for other in others) / 4
    assert total == pytest.approx(expected, rel=0.05)


def test_a_token_that_the_model_cannot_hear_has_nothing() -> None:
    batch = texts("good film nice film", "film bad | film")
    film = int(batch.ids[0, 2])
    scores = scores_of(Deaf(recurrent(), film), batch, background(*MIXED))
    assert not scores[batch.ids == film].any()
    assert bool((scores[batch.scorable & (batch.ids != film)] != 0).all())


def test_begin_end_and_query_stay() -> None:
    model, batch, seen = random_bilstm(), texts("good film | what bad"), []
    own = model.embed(batch).detach()
    model.register_forward_pre_hook(
        lambda _, given, named: seen.append(named["embedded"].detach()) if "embedded" in named else None,
        with_kwargs=True,
    )
    scores_of(model, batch, background(*MIXED))
    off = torch.cat(seen) - own
    assert len(off) == 20
    assert not off[:, ~batch.scorable[0]].any()
    assert bool(off[:, batch.scorable[0]].any(-1).all())


def test_it_needs_the_training_texts() -> None:
    assert METHOD.needs == {"gradients", "background"}
    assert METHOD.stochastic
    assert METHOD.signed
