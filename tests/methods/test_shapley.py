"""Shapley values: against brute force over all subsets, their axioms, and Captum's permutations."""

from __future__ import annotations

import itertools
import math
from types import FunctionType
from typing import Any

import pytest
import torch
from captum.attr import ShapleyValues
from torch import Tensor

from faithboard import Attribution, Batch, Classifier, Rng, predict
from tests.toy import MIXED, SEVERAL, SPECIALS, BagOfWords, methods_of, recurrent, texts

METHODS = methods_of("shapley.py")
SAMPLING, KERNEL = METHODS["shapley-sampling"], METHODS["kernel-shap"]
assert isinstance(KERNEL.explain, FunctionType)
INSIDE: dict[str, Any] = KERNEL.explain.__globals__

EIGHT = "film good dull nice what bad good film"
LONG = EIGHT + " dull film nice what"
MODELS = [BagOfWords, recurrent, lambda: BagOfWords(SEVERAL, attends=True)]


def brute_force(model: Classifier, one: Batch) -> list[float]:
    """Every word's mean marginal contribution, from the value of every subset of the words."""
    t = int(one.scorable_lengths)
    subsets = list(itertools.product([False, True], repeat=t))
    drop = torch.zeros(len(subsets), one.ids.shape[1], dtype=torch.bool)
    drop[:, one.scorable[0]] = ~torch.tensor(subsets)
    j = int(predict(model, one)[0].argmax())
    value = dict(zip(subsets, predict(model, one.repeat(len(subsets)).without(drop))[:, j].tolist(), strict=True))
    found = []
    for word in range(t):
        total = 0.0
        for subset in subsets:
            if not subset[word]:
                joined = (*subset[:word], True, *subset[word + 1 :])
                share = 1 / (t * math.comb(t - 1, sum(subset)))
                total += share * (value[joined] - value[subset])
        found.append(total)
    return found


def explained(name: str, model: Classifier, batch: Batch, seed: int = 0) -> Attribution:
    return METHODS[name](model, batch, Rng(seed, batch))


@pytest.mark.parametrize("make", MODELS)
def test_kernel_with_all_subsets_is_exact(make: type[BagOfWords]) -> None:
    model, batch = make(), texts(EIGHT, "good", "bad nice | good", LONG)
    scores = explained("kernel-shap", model, batch).scores
    for row in range(3):
        expected = brute_force(model, batch.rows([row]))
        assert scores[row][batch.scorable[row]].tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("make", MODELS)
def test_sampled_orders_come_close(make: type[BagOfWords]) -> None:
    model, one = make(), texts(EIGHT)
    drawn = torch.stack([explained("shapley-sampling", model, one, seed).scores[0] for seed in range(40)])[:, 1:9]
    expected = torch.tensor(brute_force(model, one))
    error = drawn.std(0) / math.sqrt(40)
    assert bool(((drawn.mean(0) - expected).abs() <= 4.5 * error + 1e-6).all())


def test_sampled_subsets_come_close() -> None:
    model, one = recurrent(), texts(LONG)
    scores = torch.stack([explained("kernel-shap", model, one, seed).scores[0, 1:13] for seed in range(8)]).mean(0)
    expected = torch.tensor(brute_force(model, one))
    assert float((scores - expected).abs().max()) < 0.05 * float(expected.abs().max())


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("name", METHODS)
def test_scores_sum_to_what_is_promised(name: str, make: type[BagOfWords]) -> None:
    model, batch = make(), texts(*MIXED)
    found = explained(name, model, batch)
    full, empty = predict(model, batch), predict(model, batch.without(batch.scorable))
    j = full.argmax(1, keepdim=True)
    assert found.total is not None
    torch.testing.assert_close(found.total.double(), (full - empty).gather(1, j)[:, 0], rtol=0, atol=1e-6)
    torch.testing.assert_close(found.scores.sum(1), found.total, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_a_word_without_effect_gets_nothing_and_equal_words_the_same(name: str) -> None:
    scores = explained(name, BagOfWords(), texts("good film nice good bad")).scores[0]
    assert float(scores[2]) == pytest.approx(0.0, abs=1e-7)
    if name == "kernel-shap":
        assert float(scores[1]) == pytest.approx(float(scores[4]), abs=1e-7)


def test_equals_captum_where_replacing_is_deleting() -> None:
    model, one = BagOfWords(), texts("good film nice dull bad")
    j = int(predict(model, one)[0].argmax())

    def of_class(ids: Tensor) -> Tensor:
        many = one.repeat(len(ids))
        return predict(model, many.replaced(many.scorable, ids))[:, j]

    mask = torch.tensor([[0, 1, 2, 3, 4, 5, 0]])
    # `<unk>` has weight 0, so that replacing a word is deleting it; begin and end move nothing.
    expected = ShapleyValues(of_class).attribute(one.ids, baselines=SPECIALS.unk, feature_mask=mask)
    found = explained("kernel-shap", model, one).scores
    torch.testing.assert_close(found[0, 1:6], expected[0, 1:6].float(), rtol=0, atol=1e-6)


def test_sizes_follow_the_kernel_and_pairs_are_complements() -> None:
    batch = texts(*[LONG] * 20)
    kept, weight = INSIDE["_coalitions"](batch, Rng(1, batch))
    assert kept.shape[1] == 2 * 12 + 2_048
    assert bool((weight == 1).all())
    assert torch.equal(kept[:, 0::2] ^ kept[:, 1::2], batch.scorable[:, None].expand(-1, kept.shape[1] // 2, -1))
    sizes = kept.sum(2).flatten().bincount(minlength=13).double()
    mass = torch.tensor([0.0, *(1 / (s * (12 - s)) for s in range(1, 12)), 0.0], dtype=torch.float64)
    torch.testing.assert_close(sizes / sizes.sum(), mass / mass.sum(), rtol=0, atol=0.01)


@pytest.mark.parametrize("name", METHODS)
def test_pieces_and_other_texts_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = recurrent(), texts(*MIXED)
    whole = explained(name, model, batch).scores
    monkeypatch.setitem(INSIDE, "_FITTED", 7 * batch.ids.numel())
    monkeypatch.setitem(METHODS["shapley-sampling"].explain.__globals__, "_MASKED", 1)
    torch.testing.assert_close(explained(name, model, batch).scores, whole, rtol=0, atol=1e-6)
    alone = explained(name, model, batch.rows([3])).scores
    torch.testing.assert_close(whole[3:4, : alone.shape[1]], alone, rtol=0, atol=1e-6)


def test_plans_count_each_subset_once() -> None:
    for method in METHODS.values():
        assert method.steps is not None
    assert KERNEL.steps is not None
    assert SAMPLING.steps is not None
    # All subsets of three words hold twelve words, the full text's among them.
    assert KERNEL.steps(3) == (12, 0)
    # Fifty orders of 100 words hardly share a prefix but for the shortest and the longest.
    assert 0.98 * 50 * 4950 < SAMPLING.steps(100)[0] <= 50 * 4950 + 200


@pytest.mark.parametrize("name", METHODS)
def test_a_text_without_words_has_nothing_to_share_out(name: str) -> None:
    found = explained(name, BagOfWords(), texts(""))
    assert found.total is not None
    assert found.total.tolist() == [0.0]
    assert not found.scores.any()
