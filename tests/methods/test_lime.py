"""LIME: against scikit-learn's ridge on all subsets and on the same samples, and what its samples look like."""

from __future__ import annotations

import itertools
from types import FunctionType
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge
from torch import Tensor

from faithboard import Batch, Classifier, Rng, predict
from tests.toy import MIXED, SEVERAL, BagOfWords, methods_of, recurrent, texts

LIME = methods_of("lime.py")["lime"]
assert isinstance(LIME.explain, FunctionType)
INSIDE: dict[str, Any] = LIME.explain.__globals__

LONG = "film good dull nice what bad good film dull film nice what"


def fitted(model: Classifier, one: Batch, kept: np.ndarray[Any, Any]) -> list[float]:
    """Ridge coefficients of p_j on the rows of `kept`, each asked of the model on its own."""
    full = predict(model, one)[0]
    y = []
    for row in kept:
        drop = torch.zeros_like(one.real)
        drop[one.scorable] = torch.from_numpy(~row)
        y.append(float(predict(model, one.without(drop))[0, full.argmax()]))
    share = kept.sum(1) / np.sqrt(kept.sum(1).clip(1) * kept.shape[1])
    distance = 100 * (1 - share)
    weight = np.sqrt(np.exp(-(distance**2) / 25**2))
    found: list[float] = Ridge(alpha=1.0).fit(kept.astype(float), y, sample_weight=weight).coef_.tolist()
    return found


def scores_of(model: Classifier, batch: Batch, seed: int = 0) -> Tensor:
    return LIME(model, batch, Rng(seed, batch)).scores


@pytest.mark.parametrize("make", [BagOfWords, recurrent, lambda: BagOfWords(SEVERAL, attends=True)])
def test_all_subsets_of_short_texts_enter_an_independent_fit(make: type[BagOfWords]) -> None:
    model, batch = make(), texts("good film nice dull", "bad", "what bad | good", "film good bad dull nice nice")
    scores = scores_of(model, batch)
    for row in range(len(batch)):
        one = batch.rows([row])
        kept = np.array(list(itertools.product([False, True], repeat=int(one.scorable_lengths))))
        assert scores[row][batch.scorable[row]].tolist() == pytest.approx(fitted(model, one, kept), abs=1e-6)


def test_the_same_samples_give_an_independent_fit() -> None:
    model, batch = recurrent(), texts(LONG, "good film")
    drop, counted = INSIDE["_samples"](batch, Rng(0, batch))
    assert counted[0].all()
    assert int(counted[1].sum()) == 3
    one = batch.rows([0])
    kept = ~drop[0][:, batch.scorable[0]].numpy()
    kept = np.concatenate([np.ones((1, kept.shape[1]), dtype=bool), kept])
    assert len(kept) == 1_000
    assert scores_of(model, batch)[0][batch.scorable[0]].tolist() == pytest.approx(fitted(model, one, kept), abs=1e-6)


def test_sizes_are_uniform_and_words_are_drawn_alike() -> None:
    batch = texts(*[LONG] * 20)
    drop, _ = INSIDE["_samples"](batch, Rng(3, batch))
    batch_size = drop.shape[0] * drop.shape[1]
    sizes = drop.sum(2).flatten().bincount(minlength=13)
    # Each of 12 sizes has 1/12 of 19,980 samples; five standard deviations are 0.01.
    assert int(sizes[0]) == 0
    torch.testing.assert_close(sizes[1:] / batch_size, torch.full((12,), 1 / 12), rtol=0, atol=0.01)
    share = drop.float().mean((0, 1))[batch.scorable[0]]
    torch.testing.assert_close(share, torch.full((12,), 6.5 / 12), rtol=0, atol=0.02)


def test_a_linear_probability_gives_its_weights_back() -> None:
    # With tiny weights the probability is linear in the words, a quarter of each weight per word.
    model = BagOfWords({word: (0.01 * i,) for i, word in enumerate(("good", "nice", "film", "dull", "bad", "what"))})
    scores = scores_of(model, texts(LONG))[0, 1:13]
    expected = torch.tensor([0.01 * i / 4 for i in (2, 0, 3, 1, 5, 4, 0, 2, 3, 2, 1, 5)])
    # The penalty of 1 against the spread of about a hundred samples' weight shrinks them by little.
    torch.testing.assert_close(scores, expected, rtol=0.03, atol=5e-5)


def test_a_word_without_effect_gets_next_to_nothing() -> None:
    scores = scores_of(recurrent(), texts("good film nice dull bad"))
    dummy = scores_of(BagOfWords(), texts("good film nice dull bad"))
    assert abs(float(dummy[0, 2])) < 0.02 < float(dummy.abs().max())
    assert float(scores.abs().max()) > 0


def test_fits_in_pieces_and_short_texts_beside_long_ones_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = recurrent(), texts(*MIXED)
    whole = scores_of(model, batch)
    monkeypatch.setitem(INSIDE, "_FITTED", 7 * batch.ids.numel())
    torch.testing.assert_close(scores_of(model, batch), whole, rtol=0, atol=1e-7)
    alone = scores_of(model, batch.rows([0]))
    torch.testing.assert_close(whole[:1, : alone.shape[1]], alone, rtol=0, atol=1e-6)


def test_the_plan_counts_each_subset_once() -> None:
    steps = LIME.steps
    assert steps is not None
    assert steps(3) == (3 + (2 + 2 + 2 + 1 + 1 + 1), 0)
    # 999 samples of 100 words hardly repeat but for those of 1, 2, 98, 99 and 100 words: 49.5 are kept on average.
    assert 0.97 * 999 * 49.5 < steps(100)[0] < 999 * 49.5 + 100
