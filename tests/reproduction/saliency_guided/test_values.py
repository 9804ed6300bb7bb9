"""Values, differences and controls of invented results, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from faithboard import suites
from faithboard.published import saliency_guided
from faithboard.reproduction.saliency_guided.lines import DifferenceLine, Reproduction
from faithboard.reproduction.saliency_guided.making import reproduction_of
from faithboard.results import Results
from tests.reproduction.saliency_guided.invented import explained, results, trained

SUITE = replace(suites.load("saliency-guided-training"), seeds=(0, 1))
ROW = "comprehensiveness"
GRADIENT = "gradient-l2"


def stored(
    standard: Sequence[Sequence[float]],
    guided: Sequence[Sequence[float]],
    masked: Sequence[Sequence[float]] = (),
    task: str = "movies",
    confidence: float = 0.8,
    metric: str = ROW,
) -> Results:
    """A method's values on models of the trainings, one list per seed."""
    models, explanations = [], []
    for training, of_seeds in (("standard", standard), ("saliency-guided", guided), ("random-masking", masked)):
        for seed, values in enumerate(of_seeds):
            sure = confidence if training == "saliency-guided" else 0.8
            models.append(trained(task, training, seed, confidence=sure))
            explanations.append(explained(models[-1], GRADIENT, {metric: values}))
    return results(models, explanations)


def made(found: Results) -> Reproduction:
    return reproduction_of(found, SUITE, "hash")


def between(found: Results, a: str = "saliency-guided", b: str = "standard") -> DifferenceLine:
    (line,) = (line for line in made(found).differences if (line.a, line.b) == (a, b))
    return line


def test_a_value_is_the_mean_over_texts_of_the_mean_over_seeds_beside_the_published_one() -> None:
    (line, _) = made(stored([[0.1, 0.2, 0.3, 0.4], [0.3, 0.4, 0.5, 0.6]], [[0.5] * 4])).values
    assert (line.training, line.method, line.profile, line.seeds) == ("standard", GRADIENT, "eraser-code", [0, 1])
    assert line.value == pytest.approx(0.35)
    assert line.low < 0.35 < line.high
    assert line.seed_spread == pytest.approx(0.141421, abs=1e-5)
    assert line.published == saliency_guided()["movies", GRADIENT, ROW, "standard"] == 0.2
    assert line.difference == pytest.approx(0.15)
    assert line.relative == pytest.approx(0.35 / 0.8)


def test_a_difference_is_paired_over_texts_and_the_seeds_that_both_have() -> None:
    # Seed 1 of standard training is not in the difference: the guided one has no such model.
    found = stored([[0.1, 0.2, 0.3, 0.4], [9.0] * 4], [[0.2, 0.3, 0.4, 0.5]])
    line = between(found)
    assert (line.seeds, line.value, line.low, line.high) == ([0], 0.1, 0.1, 0.1)
    assert line.published == pytest.approx(0.04)
    assert line.verdict == "same direction"
    assert line.agreeing == 1


def test_all_three_pairs_of_trainings_are_compared() -> None:
    found = stored([[0.1] * 4], [[0.4] * 4], [[0.3] * 4])
    pairs = {(line.a, line.b): line.value for line in made(found).differences}
    assert pairs == {
        ("saliency-guided", "standard"): 0.3,
        ("random-masking", "standard"): 0.2,
        ("saliency-guided", "random-masking"): 0.1,
    }


def test_a_gain_that_is_confidence_alone_is_gone_relative_to_it() -> None:
    line = between(stored([[0.2, 0.4, 0.2, 0.4]], [[0.25, 0.5, 0.25, 0.5]], confidence=1.0))
    assert line.value == pytest.approx(0.075)
    assert line.verdict == "same direction"
    assert line.relative == pytest.approx(0.0, abs=1e-9)
    assert line.relative_verdict == "no difference shown"


def test_models_of_other_data_are_not_compared_and_it_is_said() -> None:
    found = stored([[0.1] * 4], [[0.4] * 4])
    models = [replace(one, fingerprint="other") if one.training == "saliency-guided" else one for one in found.models]
    line = made(replace(found, models=tuple(models)))
    assert line.differences == []
    assert any("trained on different data" in one.says for one in line.missing)


def test_what_is_missing_is_named() -> None:
    said = {line.says for line in made(stored([[0.1] * 4], [[0.4] * 4])).missing}
    assert "nothing is stored of fever" in said
    assert "movies, bilstm-additive, random-masking: no trained model" in said
    assert "movies, bilstm-additive, saliency-guided: no trained model for seed 1" in said
    assert any("not scored for seed 0: " in one and "integrated-gradients" in one for one in said)


def test_explanations_of_other_weights_take_no_part() -> None:
    found = stored([[0.1] * 4], [[0.4] * 4])
    lost = [replace(one, weights_sha256="gone") for one in found.explanations]
    assert made(replace(found, explanations=tuple(lost))).values == []


def test_a_random_order_stands_in_where_a_value_is_undefined() -> None:
    model = trained("movies", "standard", 0)
    own = explained(model, GRADIENT, {ROW: [0.4, float("nan"), 0.4, 0.4]})
    chance = explained(model, "random", {ROW: [0.1, 0.2, 0.1, 0.1]})
    of = {line.method: line for line in made(results([model], [own, chance])).values}
    assert of[GRADIENT].value == pytest.approx((0.4 * 3 + 0.2) / 4)
    assert of[GRADIENT].undefined == 0.25


def test_accuracies_are_compared_over_the_same_test_texts() -> None:
    found = stored([[0.1] * 4], [[0.4] * 4])
    by_model = {one.key: (1.0, 1.0, 0.0, 0.0) if one.training == "standard" else (1.0,) * 4 for one in found.models}
    again = results(found.models, [(one, []) for one in found.explanations], by_model)
    (line,) = made(replace(again, values=found.values)).accuracies
    assert (line.value, line.n, line.seeds) == (0.5, 4, [0])


def test_normalised_values_stand_beside_nothing_published_and_are_not_divided_by_confidence() -> None:
    found = stored([[0.1, 0.2, 0.3, 0.4]], [[0.2, 0.3, 0.4, 0.6]], metric="naopc-comprehensiveness")
    line = between(found)
    assert (line.metric, line.profile) == ("comprehensiveness", "normalised")
    assert (line.published, line.relative, line.relative_verdict) == (None, None, "")
    assert line.verdict == "higher"
    assert {one.published for one in made(found).values} == {None}
    assert {one.relative for one in made(found).values} == {None}
    assert not [one for one in made(found).evidence if one.claim == "comprehensiveness"]
    # Texts over 50 words have none, which is no gap.
    assert not any("not scored" in one.says for one in made(both_profiles()).missing)


def both_profiles() -> Results:
    """Every method and raw metric on one model, nothing normalised."""
    raw = [metric for metric in SUITE.metrics if not metric.startswith("naopc")]
    models = [trained("movies", training, seed) for training in SUITE.trainings for seed in SUITE.seeds]
    every = [explained(one, name, {row: [0.1] * 4 for row in raw}) for one in models for name in SUITE.methods]
    return results(models, every)


def test_equal_epochs_are_compared_over_the_seeds_that_have_them() -> None:
    found = stored([[0.1] * 4, [0.2] * 4], [[0.4] * 4, [0.3] * 4])
    assert made(found).equal_epochs == []  # all of them have: the difference itself is that comparison
    longer = [
        replace(one, provenance={**one.provenance, "best_epoch": 7}) if one.key == "movies-saliency-guided-0" else one
        for one in found.models
    ]
    (line,) = made(replace(found, models=tuple(longer))).equal_epochs
    assert (line.seeds, line.value) == ([1], 0.1)
    unknown = [replace(one, provenance={"device": "cpu"}) for one in found.models]
    assert made(replace(found, models=tuple(unknown))).equal_epochs == []
