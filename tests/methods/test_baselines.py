"""Rows that do not explain the model: uniform numbers, how rare a word is, and what a bag of words would say."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from faithboard import ContractError, Rng, predict
from tests.toy import SEVERAL, BagOfWords, background, methods_of, texts

METHODS = methods_of("baselines.py")
RANDOM = METHODS["random"]


def test_uniform_between_zero_and_one() -> None:
    batch = texts(*(["film " * 50] * 40))
    scores = RANDOM(BagOfWords(), batch, Rng(0, batch)).scores[batch.scorable]
    assert float(scores.min()) >= 0
    assert float(scores.max()) < 1
    assert abs(float(scores.mean()) - 0.5) < 0.03
    assert abs(float(scores.var()) - 1 / 12) < 0.01


def test_other_draws_are_independent_of_the_first() -> None:
    batch = texts("film " * 50)
    first, second = (RANDOM(BagOfWords(), batch, Rng(seed, batch)).scores for seed in (0, 1))
    correlation = torch.corrcoef(torch.stack([first[batch.scorable], second[batch.scorable]]))[0, 1]
    assert abs(float(correlation)) < 0.4
    assert RANDOM.draws == 10
    assert RANDOM.stochastic


TRAINING = ("good film", "nice nice film", "bad film", "dull dull bad film", "what film", "good what")
LABELS = (1, 1, 0, 0, 1, 1)


def scores_of(name: str, *lines: str) -> Tensor:
    batch = texts(*lines)
    return METHODS[name].given(background(*TRAINING, labels=LABELS))(BagOfWords(), batch, Rng(0, batch)).scores


def test_rarity_is_the_log_of_the_inverse_document_frequency() -> None:
    scores = scores_of("word-rarity", "film nice good | bad")
    # `nice` stands twice in one text: that is one document.
    assert scores[0, 1:4].tolist() == pytest.approx([math.log(7 / 6), math.log(7 / 2), math.log(7 / 3)])
    assert not scores[0, 4:].any()


def test_the_bag_of_words_speaks_for_the_class_that_the_model_predicts() -> None:
    scores = scores_of("tfidf-logistic", "good good nice bad film", "bad bad dull good film")
    assert scores[0, 1] > 0 > scores[0, 4]
    assert scores[1, 1] > 0 > scores[1, 4]
    assert scores[0, 4] == pytest.approx(-float(scores[1, 1]))
    assert scores[0, 1] == scores[0, 2]


def test_the_weights_are_those_of_a_library() -> None:
    labels = (1, 1, 0, 0, 2, 1)
    words = sorted({word for line in TRAINING for word in line.split()})
    counts = np.array([[line.split().count(word) for word in words] for line in TRAINING], dtype=float)
    idf = np.log((1 + len(TRAINING)) / (1 + (counts > 0).sum(0)))
    features = counts * idf
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    fitted = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(features, labels)
    evidence = (fitted.coef_ - fitted.coef_.mean(0)) * idf
    line = "good nice film bad dull what"
    model, batch = BagOfWords({word: weights[:3] for word, weights in SEVERAL.items()}), texts(line)
    given = METHODS["tfidf-logistic"].given(background(*TRAINING, labels=labels, n_classes=3))
    scores = given(model, batch, Rng(0, batch)).scores[0, 1:7]
    j = int(predict(model, batch).argmax())
    expected = [evidence[j, words.index(word)] for word in line.split()]
    assert scores.tolist() == pytest.approx(expected, abs=1e-4)
    assert max(map(abs, expected)) > 0.1


def test_a_regression_that_is_too_large_is_refused_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    method = METHODS["tfidf-logistic"]
    monkeypatch.setitem(method.explain.__globals__, "LARGEST", 10)
    batch = texts("good film")
    with pytest.raises(ContractError, match="13 words of training texts times 2 classes are more than the 10"):
        method.given(background(*TRAINING, labels=LABELS))(BagOfWords(), batch, Rng(0, batch))


@pytest.mark.parametrize("copies", [3, 10, 40, 49])
def test_a_word_of_every_text_has_no_rarity_whatever_their_number(copies: int) -> None:
    batch = texts("film good")
    given = METHODS["word-rarity"].given(background(*["film good"] * copies))
    assert given(BagOfWords(), batch, Rng(0, batch)).scores.abs().max() < 1e-12
