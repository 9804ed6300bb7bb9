"""The agreement of attention with gradients and leave-one-out, against scipy and the methods themselves."""

from __future__ import annotations

import pytest
import torch
from scipy.stats import kendalltau

from faithboard import Rng, predict
from faithboard.classifier import count_steps
from faithboard.probes import BUILTIN
from faithboard.probes.agreement import ATTENTION_AGREEMENT, PAIRS, attention_agreement, measures
from tests.probes.reference_models import context, model_of, shift_logit
from tests.toy import BINARY, MIXED, SEVERAL, BagOfWords, builtin_methods, recurrent, texts

MODELS = [recurrent, lambda: BagOfWords(attends=True), lambda: BagOfWords(SEVERAL, attends=True)]


@pytest.mark.parametrize("make", MODELS)
def test_equals_scipy_on_the_scores_of_the_methods(make: type[BagOfWords]) -> None:
    model, batch = make(), texts(*MIXED)
    names = ("attention", "gradient-x-input-fixed-attention", "leave-one-out-tvd")
    attention, gradient, loo = (builtin_methods()[name](model, batch, Rng(0, batch)).scores for name in names)
    found = attention_agreement(model, batch, context(batch))
    assert found.shape == (len(batch), len(ATTENTION_AGREEMENT.points))
    for column, (a, b) in enumerate(((attention, gradient), (attention, loo), (gradient, loo))):
        for row in range(len(batch)):
            keep = batch.scorable[row]
            if int(keep.sum()) < 2:
                continue
            expected = kendalltau(a[row, keep], b[row, keep])
            # Methods return float32, in which neighbours can tie: one pair of them is the most that may differ.
            assert float(found[row, column]) == pytest.approx(float(expected.statistic), abs=0.1)


@pytest.mark.parametrize("make", MODELS)
def test_its_vectors_are_those_of_the_methods(make: type[BagOfWords]) -> None:
    model, batch = make(), texts(*MIXED)
    found = measures(model, batch)
    gradient = found.gradient / found.gradient.sum(1, keepdim=True)
    for name, values in (
        ("attention", found.attention),
        ("gradient-x-input-fixed-attention", gradient),
        ("leave-one-out-tvd", found.leave_one_out),
    ):
        expected = builtin_methods()[name](model, batch, Rng(0, batch)).scores
        torch.testing.assert_close(values.nan_to_num().float(), expected, rtol=1e-5, atol=1e-8)
    assert torch.equal(found.predicted, predict(model, batch).argmax(1))


def test_by_hand() -> None:
    # alpha falls from left to right. |weight| and so the gradient: good, dull, film. What deleting a word moves: the
    # context is 1.64; without `good` it is -0.27, without `film` 1.86, without `dull` 1.76.
    batch = texts("good film dull")
    found = attention_agreement(BagOfWords(attends=True), batch, context(batch))[0]
    by_name = dict(zip(ATTENTION_AGREEMENT.points, found.tolist(), strict=True))
    assert by_name["tau-attention-gradient"] == pytest.approx(1 / 3)
    assert by_name["tau-attention-loo"] == pytest.approx(1)
    assert by_name["tau-gradient-loo"] == pytest.approx(1 / 3)
    assert by_name["top-k-attention-loo"] == pytest.approx(1)
    assert by_name["scorable-length"] == 3
    assert by_name["predicted-class"] == 1


def test_short_texts_are_not_testable_which_is_not_insignificant() -> None:
    batch = texts("good bad nice dull", "good bad nice dull film")
    found = attention_agreement(recurrent(), batch, context(batch))
    taus, ps = found[:, :3], found[:, 3:6]
    assert bool(torch.isfinite(taus).all())
    assert bool(torch.isnan(ps[0]).all())
    assert bool(torch.isfinite(ps[1]).all())


def test_one_token_and_constant_vectors_are_undefined() -> None:
    batch = texts("good", "film film film film film")
    found = attention_agreement(BagOfWords(attends=True), batch, context(batch))
    assert bool(torch.isnan(found[:, :9]).all())


def test_attention_that_is_uniform_to_float_precision_is_constant() -> None:
    model = BagOfWords({word: (1e-7 * weight,) for word, (weight,) in BINARY.items()}, attends=True)
    batch = texts("good bad nice dull film what")
    weights = measures(model, batch).attention[batch.scorable]
    assert len(weights.unique()) > 1
    taus = attention_agreement(model, batch, context(batch))[0, :3]
    assert torch.isnan(taus).tolist() == [True, True, False]


@pytest.mark.parametrize("by", [60.0, -60.0])
def test_a_probability_that_is_1_in_float32_has_the_same_agreement(by: float) -> None:
    plain, sure, batch = model_of("single"), model_of("single"), texts(*MIXED)
    shift_logit(sure, by)
    assert predict(sure, batch).float().amax(1).eq(1).all()
    expected, found = (attention_agreement(model, batch, context(batch))[:, :9] for model in (plain, sure))
    assert bool(torch.isfinite(found).any())
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-9, equal_nan=True)


@pytest.mark.parametrize("by", [200.0, -200.0])
def test_a_gradient_that_vanishes_in_float32_is_undefined_rather_than_not_significant(by: float) -> None:
    model, batch = model_of("single"), texts(*MIXED)
    shift_logit(model, by)
    assert measures(model, batch).gradient.eq(0).all()
    found = dict(zip(ATTENTION_AGREEMENT.points, attention_agreement(model, batch, context(batch)).T, strict=True))
    for pair in ("attention-gradient", "gradient-loo"):
        assert bool(torch.isnan(torch.stack([found[f"{kind}-{pair}"] for kind in ("tau", "p", "top-k")])).all())
    assert bool(torch.isfinite(found["tau-attention-loo"][batch.scorable_lengths > 1]).all())
    assert bool(torch.isfinite(found["p-attention-loo"][batch.scorable_lengths >= 5]).all())


def test_the_model_is_left_in_its_mode() -> None:
    model = BagOfWords(attends=True, dropout=0.5).train()
    batch = texts(*MIXED)
    expected = attention_agreement(BagOfWords(attends=True), batch, context(batch))
    torch.testing.assert_close(attention_agreement(model, batch, context(batch)), expected, equal_nan=True)
    assert model.training


def test_listed_with_named_points() -> None:
    assert ATTENTION_AGREEMENT in BUILTIN
    of_pairs = [f"{kind}-{pair}" for kind in ("tau", "p", "top-k") for pair in PAIRS]
    assert ATTENTION_AGREEMENT.points == (*of_pairs, "scorable-length", "predicted-class")
    assert len({point for probe in BUILTIN for point in probe.points}) == sum(len(probe.points) for probe in BUILTIN)


def test_the_planned_cost_is_the_measured_one_but_for_special_tokens() -> None:
    model, batch = recurrent(), texts("good film bad", "bad bad dull film nice")
    with count_steps(model) as steps:
        ATTENTION_AGREEMENT.probe(model, batch, context(batch))
    assert ATTENTION_AGREEMENT.steps is not None
    least = [ATTENTION_AGREEMENT.steps(length) for length in (3, 5)]
    most = [ATTENTION_AGREEMENT.steps(length + 2) for length in (3, 5)]
    assert sum(forward for forward, _ in least) <= steps.forward <= sum(forward for forward, _ in most)
    assert sum(backward for _, backward in least) <= steps.backward <= sum(backward for _, backward in most)
