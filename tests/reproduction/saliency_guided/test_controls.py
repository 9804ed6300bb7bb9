"""What the paragraphs on controls count, on invented results."""

from __future__ import annotations

from dataclasses import replace

from faithboard.reproduction.saliency_guided.controls import controls
from faithboard.reproduction.saliency_guided.lines import Reproduction
from faithboard.reproduction.saliency_guided.making import reproduction_of
from tests.reproduction.saliency_guided.invented import explained, results, trained
from tests.reproduction.saliency_guided.test_values import GRADIENT, SUITE

PLAIN = {"comprehensiveness": 0.2, "comprehensiveness-paper": 0.2 * 5 / 6, "naopc-comprehensiveness": 0.5}


def reproduction(gain: float = 0.2, sure: float = 0.8, normalised: float = 0.0, **changes: object) -> Reproduction:
    """Two seeds; saliency-guided training gains `gain` raw and `normalised` between what any order reaches."""
    models, explanations = [], []
    for training in ("standard", "saliency-guided"):
        guided = training == "saliency-guided"
        for seed in (0, 1):
            models.append(trained("movies", training, seed, confidence=sure if guided else 0.8, **changes))
            added = {"naopc-comprehensiveness": normalised, "comprehensiveness-paper": gain * 5 / 6}
            values = {
                metric: [own + at / 100 + guided * added.get(metric, gain) for at in range(4)]
                for metric, own in PLAIN.items()
            }
            explanations.append(explained(models[-1], GRADIENT, values))
    return reproduction_of(results(models, explanations), SUITE, "hash")


def text(made: Reproduction) -> str:
    return "\n".join(controls(made))


def test_a_gain_counts_once_though_two_profiles_have_it() -> None:
    assert "Of the 1 comparisons of the first two claims that show a gain" in text(reproduction())
    assert "1 show it relative to confidence too" in text(reproduction())


def test_a_gain_that_is_confidence_alone_is_not_left_over() -> None:
    assert ", 0 show it relative to confidence too" in text(reproduction(gain=0.05, sure=1.0))


def test_models_below_the_gate_have_no_gain_to_explain() -> None:
    said = text(reproduction(gate_passed=False, normalised=0.1))
    assert "confidence has nothing to explain" in said
    assert "None counts" in said


def test_a_raw_gain_is_held_against_the_normalised_one() -> None:
    assert "(movies), 0 show a gain" in text(reproduction())
    assert "of 1 raw gains beside one, 0 are gains normalised too" in text(reproduction())
    assert "of 1 raw gains beside one, 1 are gains normalised too" in text(reproduction(normalised=0.1))
    assert "(movies), 0 show a gain of `saliency-guided` over `standard` and 1 a loss" in text(
        reproduction(normalised=-0.1)
    )


def test_without_normalised_values_it_says_so() -> None:
    made = reproduction()
    raw = [line for line in made.differences if line.profile != "normalised"]
    assert "None counts" in text(replace(made, differences=raw))


def test_differences_at_equal_epochs_stand_there_where_some_seeds_have_others() -> None:
    made = reproduction()
    said = "over the seeds whose two models kept equal epochs:"
    assert said not in text(made)
    assert said in text(replace(made, equal_epochs=made.differences))
