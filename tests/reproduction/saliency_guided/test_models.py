"""What is told of the models: settings, confidence, and whether those that are compared stopped at equal epochs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from faithboard.reproduction.saliency_guided.lines import Reproduction
from faithboard.reproduction.saliency_guided.making import reproduction_of
from faithboard.reproduction.saliency_guided.tables import epochs
from tests.reproduction.saliency_guided.invented import explained, results, trained
from tests.reproduction.saliency_guided.test_values import GRADIENT, ROW, SUITE


def made(best: Mapping[str, Sequence[int | None]]) -> Reproduction:
    """One model per training and seed; training -> the epoch that is kept in each seed."""
    models, explanations = [], []
    for training, kept in best.items():
        for seed, epoch in enumerate(kept):
            one = trained("movies", training, seed, confidence=0.9 if training == "saliency-guided" else 0.8)
            models.append(replace(one, provenance={} if epoch is None else {"best_epoch": epoch}))
            explanations.append(explained(models[-1], GRADIENT, {ROW: [0.1, 0.2, 0.3, 0.4]}))
    return reproduction_of(results(models, explanations), SUITE, "hash")


def test_a_model_line_holds_one_number_per_seed_and_the_settings_of_the_masking() -> None:
    standard, guided = made({"standard": [2, 3], "saliency-guided": [1, None]}).models
    assert (standard.seeds, standard.best_epochs, standard.masking) == ([0, 1], [2, 3], "")
    assert (guided.confidence, guided.best_epochs) == ([0.9, 0.9], [1, None])
    assert guided.masking == "k = 0.5, fill previous, lambda = 1"
    assert guided.accuracy == [0.75, 0.75]


def test_a_surer_model_is_told_beside_its_accuracy() -> None:
    (line,) = made({"standard": [1, 1], "saliency-guided": [1, 1]}).accuracies
    assert line.confidence == pytest.approx(0.1)
    assert line.confidence_spread == pytest.approx(0.0)
    assert (line.value, line.verdict) == (0.0, "kept within 1 point")


def test_a_confidence_that_was_not_recorded_leaves_the_relative_values_out() -> None:
    one = trained("movies", "standard", 0, performance={"accuracy": 0.75})
    found = reproduction_of(results([one], [explained(one, GRADIENT, {ROW: [0.1] * 4})]), SUITE, "hash")
    assert found.models[0].confidence == [None]
    assert found.values[0].relative is None
    assert found.values[0].value == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("best", "said"),
    [
        ({"standard": [2, 3], "saliency-guided": [2, 3]}, "stopped at equal epochs (2 / 3, by seed)"),
        (
            {"standard": [2, 3], "saliency-guided": [3, 2]},
            "stopped at **unequal** epochs (by seed: standard 2 / 3; saliency-guided 3 / 2)",
        ),
        # The seed that standard training lacks is compared with nothing.
        ({"standard": [2], "saliency-guided": [2, 3]}, "stopped at equal epochs (2, by seed)"),
        ({"standard": [2], "saliency-guided": [None]}, "the epochs of some models were not recorded"),
        ({"standard": [2, 3]}, "no two trainings of one seed to compare"),
    ],
    ids=["equal", "unequal", "common seeds alone", "not recorded", "one training"],
)
def test_whether_compared_models_stopped_at_equal_epochs_is_said(
    best: Mapping[str, Sequence[int | None]], said: str
) -> None:
    (sentence,) = epochs(made(best).models)
    assert sentence.startswith("movies, bilstm-additive: ")
    assert said in sentence
