"""Leave-one-out: by hand, and against deleting one word of one text at a time."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from faithboard import Batch, Classifier, Rng, predict
from faithboard.classifier import count_steps
from tests.toy import MIXED, SEVERAL, BagOfWords, methods_of, recurrent, texts

METHODS = methods_of("leave_one_out.py")


def scores_of(name: str, model: Classifier, batch: Batch) -> Tensor:
    return METHODS[name](model, batch, Rng(0, batch)).scores


def logistic(z: float) -> float:
    return 1 / (1 + math.exp(-z))


def test_by_hand() -> None:
    batch = texts("good nice dull", "bad good bad | nice")
    scores = scores_of("leave-one-out", BagOfWords(), batch)
    expected = [logistic(2) - logistic(0), logistic(2) - logistic(1), logistic(2) - logistic(3)]
    assert scores[0, 1:4].tolist() == pytest.approx(expected, abs=1e-6)
    # z = -2 + 1 with the query: class 0, for which `good` is evidence against. The query has no score.
    expected = [logistic(1) - logistic(-1), logistic(1) - logistic(3), logistic(1) - logistic(-1), 0.0, 0.0]
    assert scores[1, 1:].tolist() == pytest.approx(expected, abs=1e-6)


def test_distance_has_no_sign_and_covers_all_classes() -> None:
    batch = texts("nice bad")
    model = BagOfWords(SEVERAL)
    full = predict(model, batch)[0]
    left = [predict(model, texts(word))[0] for word in ("bad", "nice")]
    expected = [float((full - p).abs().sum()) / 2 for p in left]
    assert scores_of("leave-one-out-tvd", model, batch)[0, 1:3].tolist() == pytest.approx(expected, abs=1e-6)


def test_two_classes_give_the_same_size() -> None:
    batch = texts(*MIXED)
    signed, unsigned = (scores_of(name, recurrent(), batch) for name in METHODS)
    torch.testing.assert_close(signed.abs(), unsigned, rtol=0, atol=1e-7)


@pytest.mark.parametrize("make", [BagOfWords, recurrent, lambda: BagOfWords(SEVERAL, attends=True)])
def test_equals_deleting_one_word_at_a_time(make: type[BagOfWords]) -> None:
    model, batch = make(), texts(*MIXED)
    scores = scores_of("leave-one-out", model, batch)
    for b, token in batch.scorable.nonzero().tolist():
        one = batch.rows([b])
        full = predict(model, one)[0]
        drop = torch.zeros_like(one.real)
        drop[0, token] = True
        expected = float(full.max() - predict(model, one.without(drop))[0, full.argmax()])
        assert float(scores[b, token]) == pytest.approx(expected, abs=1e-6)


def test_a_sure_model_still_tells_words_apart() -> None:
    batch = texts("good nice film")
    scores = scores_of("leave-one-out", BagOfWords(bias=20.0), batch)[0, 1:4]
    assert scores[0] > scores[1] > scores[2]
    assert float(scores[2]) == pytest.approx(0.0, abs=1e-16)


def test_cost_is_the_text_once_and_every_shorter_text_once() -> None:
    batch = texts("good nice dull bad film | what")
    with count_steps(BagOfWords()) as nothing:
        pass
    model = BagOfWords()
    with count_steps(model) as steps:
        scores_of("leave-one-out", model, batch)
    t, length = 5, 8
    assert (nothing.forward, nothing.backward) == (0, 0)
    assert steps.forward == length + t * (length - 1)
    assert steps.backward == 0
    plan = METHODS["leave-one-out"].steps
    assert plan is not None
    # Special tokens apart: the text has T tokens then.
    assert plan(t) == (t + t * (t - 1), 0)
