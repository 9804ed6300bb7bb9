"""Integrated gradients: by hand, against Captum, and complete."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import torch
from torch import Tensor

from faithboard import Attribution, Batch, Classifier, Rng, predict
from tests.methods.oracle import Deaf, probability, random_bilstm, random_texts
from tests.toy import MIXED, SEVERAL, SPECIALS, BagOfWords, methods_of, recurrent, texts

METHODS = methods_of("integrated_gradients.py")
NAMES = ("integrated-gradients", "integrated-gradients-pad", "integrated-gradients-unk")


def found(name: str, model: Classifier, batch: Batch) -> Attribution:
    return METHODS[name](model, batch, Rng(0, batch))


def with_words(model: BagOfWords, pad: float, unk: float) -> BagOfWords:
    with torch.no_grad():
        model.table.weight[SPECIALS.pad] = pad
        model.table.weight[SPECIALS.unk] = unk
    return model


def test_all_baselines_are_there() -> None:
    assert set(METHODS) == set(NAMES)
    assert all(METHODS[name].signed and METHODS[name].needs == {"gradients"} for name in NAMES)


def test_from_zero_by_hand() -> None:
    # The way goes straight from z = 0 to z = -2, so each word has its share of what the probability moved.
    batch = texts("good bad bad film")
    attribution = found("integrated-gradients", BagOfWords(), batch)
    change = 1 / (1 + np.exp(-2)) - 0.5
    assert attribution.scores[0, 1:5].tolist() == pytest.approx([-change, change, change, 0.0], rel=1e-6)
    assert attribution.total is not None
    assert attribution.total.tolist() == pytest.approx([change])


@pytest.mark.parametrize(("name", "baseline"), [("integrated-gradients-pad", 0.5), ("integrated-gradients-unk", -1.0)])
def test_from_another_word_by_hand(name: str, baseline: float) -> None:
    model, batch = with_words(BagOfWords(), pad=0.5, unk=-1.0), texts("good nice | what")
    attribution = found(name, model, batch)
    start = 2 * baseline + 0.25
    change = 1 / (1 + np.exp(-3.25)) - 1 / (1 + np.exp(-start))
    share = np.array([2 - baseline, 1 - baseline]) / (3 - 2 * baseline)
    assert attribution.scores[0, 1:3].tolist() == pytest.approx((share * change).tolist(), rel=1e-6)
    assert attribution.total is not None
    assert attribution.total.tolist() == pytest.approx([change], rel=1e-6)


def test_the_baseline_word_itself_has_nothing() -> None:
    model, batch = recurrent(), texts("good film nice")
    unknown = batch.replaced(batch.scorable & (torch.arange(5) == 2), SPECIALS.unk)
    scores = found("integrated-gradients-unk", model, unknown).scores[0]
    assert scores[2] == 0
    assert scores[1] != 0
    assert scores[3] != 0


def test_several_classes_go_to_the_class_of_the_full_text() -> None:
    batch = texts("bad nice nice")
    model = BagOfWords(SEVERAL)
    # Class 2 of the full text is not the one that the baseline gives, where all are equal.
    p = predict(model, batch)[0]
    assert int(p.argmax()) == 2
    attribution = found("integrated-gradients", model, batch)
    assert attribution.total is not None
    assert float(attribution.total) == pytest.approx(float(p[2]) - 0.25, rel=1e-6)
    assert float(attribution.scores.sum()) == pytest.approx(float(p[2]) - 0.25, rel=1e-5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("classes", [2, 3])
def test_equals_captum(name: str, classes: int) -> None:
    captum_attr = pytest.importorskip("captum.attr", reason="Captum is an oracle for tests only")
    model, batch = random_bilstm(classes=classes, sharpened=5.0), texts(*MIXED)
    embedded = model.embed(batch).detach()
    word = {"integrated-gradients-pad": SPECIALS.pad, "integrated-gradients-unk": SPECIALS.unk}.get(name)
    other = embedded * 0 if word is None else model.embed(batch.replaced(batch.scorable, word)).detach()
    baseline = torch.where(batch.scorable[:, :, None], other, embedded)
    j = predict(model, batch).argmax(-1)
    method = captum_attr.IntegratedGradients(probability(model, batch))
    expected, delta = method.attribute(
        embedded, baselines=baseline, target=j, n_steps=50, method="gausslegendre", return_convergence_delta=True
    )
    attribution = found(name, model, batch)
    expected = expected.sum(-1).masked_fill(~batch.scorable, 0.0).float()
    torch.testing.assert_close(attribution.scores, expected, rtol=1e-4, atol=1e-6)
    assert attribution.total is not None
    torch.testing.assert_close(attribution.total, expected.sum(1) - delta.float(), rtol=1e-4, atol=1e-5)


def sharp(seed: int) -> Classifier:
    """A model whose answers jump on the way from the baseline."""
    model = random_bilstm(seed, sharpened=100.0)
    with torch.no_grad():
        model.embedding.weight.mul_(4.0)
    return model


def gaps(model: Classifier, batch: Batch) -> Tensor:
    """|sum - promise| as a share of the promised change, for texts where that is at least 0.05."""
    attribution = found("integrated-gradients", model, batch)
    assert attribution.total is not None
    change = attribution.total.abs()
    return ((attribution.scores.sum(1) - attribution.total).abs() / change)[change >= 0.05]


def test_complete_on_sharp_models_and_more_so_with_more_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = random_texts(40)
    here = inspect.unwrap(METHODS["integrated-gradients"].explain).__globals__
    by_steps = {}
    for steps in (5, 15, 50):
        monkeypatch.setitem(here, "STEPS", steps)
        by_steps[steps] = torch.cat([gaps(sharp(seed), batch) for seed in range(3)])
    assert len(by_steps[50]) >= 60
    assert float(by_steps[50].median()) < 0.01
    assert float(by_steps[50].quantile(0.95)) < 0.05
    largest = [float(by_steps[steps].quantile(0.95)) for steps in (5, 15, 50)]
    assert largest[0] > 3 * largest[1] > 9 * largest[2]


def test_the_points_are_those_of_a_library() -> None:
    nodes, weights = np.polynomial.legendre.leggauss(50)
    rule = inspect.unwrap(METHODS["integrated-gradients"].explain).__globals__["_gauss_legendre"]
    np.testing.assert_allclose(rule(50), [(nodes + 1) / 2, weights / 2], rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_a_token_that_the_model_cannot_hear_has_nothing(name: str) -> None:
    batch = texts("good film nice film", "film bad | film")
    film = int(batch.ids[0, 2])
    scores = found(name, Deaf(recurrent(), film), batch).scores
    assert not scores[batch.ids == film].any()
    assert bool((scores[batch.scorable & (batch.ids != film)] != 0).all())


@pytest.mark.parametrize("name", NAMES)
def test_begin_end_and_query_stay(name: str) -> None:
    model, batch = recurrent(), texts("good film | what bad")
    stays, seen = batch.real & ~batch.scorable, []
    own = model.embed(batch).detach()
    model.register_forward_pre_hook(
        lambda _, given, named: seen.append((named["embedded"].detach(), len(given[0]))), with_kwargs=True
    )
    found(name, model, batch)
    assert sum(rows for _, rows in seen) == 52
    for embedded, _ in seen:
        for one in embedded:
            assert torch.equal(one[stays[0]], own[0][stays[0]])
