"""Captum's classes as methods: equal to the built-in ones where those are the same, and within the contract."""

from __future__ import annotations

from typing import Any, Literal

import pytest
import torch
from torch import Tensor

from faithboard import ContractError, Method, Rng, from_captum, predict
from faithboard.conformance import check_method
from tests.toy import MIXED, SEVERAL, BagOfWords, methods_of, recurrent, texts

captum_attr = pytest.importorskip("captum.attr", reason="Captum is optional")


def made(
    name: str, kind: Literal["sensitivity", "contribution"] = "contribution", signed: bool = True, **more: Any
) -> Method:
    return from_captum(getattr(captum_attr, name), name=f"captum-{name.lower()}", kind=kind, signed=signed, **more)


def scores_of(method: Method, lines: tuple[str, ...] = MIXED, **model: Any) -> Tensor:
    batch = texts(*lines)
    return method(recurrent(**model), batch, Rng(0, batch)).scores


@pytest.mark.parametrize(
    ("theirs", "file", "ours"),
    [
        (made("Saliency", "sensitivity", False, reduce="l2"), "gradient.py", "gradient-l2"),
        (made("InputXGradient"), "gradient.py", "gradient-x-input"),
        (made("IntegratedGradients", n_steps=50), "integrated_gradients.py", "integrated-gradients"),
    ],
)
def test_equals_the_built_in_method(theirs: Method, file: str, ours: str) -> None:
    expected = scores_of(methods_of(file)[ours])
    torch.testing.assert_close(scores_of(theirs), expected, rtol=1e-3, atol=1e-5)


def test_removing_a_token_from_a_bag_of_words_by_hand() -> None:
    batch, model = texts("good bad bad", "nice film"), BagOfWords()
    found = made("FeatureAblation")(model, batch, Rng(0, batch)).scores
    without = [predict(model, texts(line)) for line in ("bad bad", "good bad", "film", "nice")]
    p = predict(model, batch)
    # Class 0 is predicted for the first text, class 1 for the second.
    by_hand = [p[0, 0] - without[0][0, 0], p[0, 0] - without[1][0, 0], p[1, 1] - without[2][0, 1]]
    torch.testing.assert_close(found[[0, 0, 1], [1, 2, 1]], torch.stack(by_hand).float())
    torch.testing.assert_close(found[1, 2], (p[1, 1] - without[3][0, 1]).float())


def test_draws_of_shapley_values_add_up_to_the_change_of_the_output() -> None:
    batch, model = texts("good bad film", "nice dull"), BagOfWords(SEVERAL)
    found = made("ShapleyValueSampling", stochastic=True, n_samples=2)(model, batch, Rng(0, batch)).scores
    p, empty = predict(model, batch), predict(model, batch.without(batch.scorable))
    j = p.argmax(1, keepdim=True)
    torch.testing.assert_close(found.sum(1), (p - empty).gather(1, j)[:, 0].float())


CHECKED = {
    "IntegratedGradients": made("IntegratedGradients", n_steps=6),
    "Saliency": made("Saliency", "sensitivity", False),
    "InputXGradient": made("InputXGradient"),
    "GradientShap": made("GradientShap", stochastic=True, n_samples=2, stdevs=0.1),
}


@pytest.mark.parametrize("name", CHECKED)
def test_every_rule_of_the_contract_holds(name: str) -> None:
    findings = check_method(CHECKED[name], recurrent(), texts(*MIXED))
    assert {finding.name: finding.reason for finding in findings if finding.outcome == "failed"} == {}


def test_one_made_by_a_function_takes_what_its_constructor_does() -> None:
    plain = from_captum(
        lambda forward: captum_attr.InputXGradient(forward), name="made", kind="contribution", signed=True
    )
    torch.testing.assert_close(scores_of(plain), scores_of(made("InputXGradient")))
    local = from_captum(
        lambda forward: captum_attr.IntegratedGradients(forward, multiply_by_inputs=False),
        name="local",
        kind="sensitivity",
        signed=False,
        reduce="l2",
        n_steps=4,
    )
    assert not torch.allclose(scores_of(local), scores_of(made("IntegratedGradients", n_steps=4, reduce="l2")))
    wrong = from_captum(
        lambda forward: captum_attr.InputXGradient(forward), name="wrong", kind="contribution", signed=True, n_step=3
    )
    with pytest.raises(ContractError, match=r"wrong: <lambda>\.attribute takes no 'n_step'"):
        scores_of(wrong)


def test_needs_and_source_follow_from_the_class() -> None:
    assert made("Saliency").needs == {"gradients"}
    assert made("FeatureAblation").needs == frozenset()
    assert made("GradientShap", stochastic=True).stochastic
    assert "IntegratedGradients of p_j" in made("IntegratedGradients").source


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("DeepLift", {}, "DeepLift changes layers of a network"),
        ("LRP", {}, "LRP changes layers of a network"),
        ("IntegratedGradients", {"n_step": 3}, "takes no 'n_step'; did you mean n_steps"),
        ("IntegratedGradients", {"target": 1}, "target of IntegratedGradients.attribute is given by faithboard"),
        ("Saliency", {"reduce": "l3"}, "unknown reduction 'l3'; did you mean l2"),
    ],
)
def test_what_cannot_be_a_method_is_refused_at_once(name: str, more: dict[str, Any], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        made(name, **more)
