"""The sanity checks on invented scores whose taus are known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from faithboard.records import Row
from faithboard.stats.agreed import SanityCheck
from faithboard.stats.sanity import CONTROL
from faithboard.training import RANDOM_LABELS
from tests.boards import Records, model, noisy

Scores = Mapping[str, Sequence[Sequence[float]]]
UP: Scores = {"e000": [[1.0, 2, 3, 4]], "e001": [[4.0, 3, 2, 1]]}
DOWN: Scores = {"e000": [[4.0, 3, 2, 1]], "e001": [[1.0, 2, 3, 4]]}
NEAR: Scores = {"e000": [[2.0, 1, 3, 4]], "e001": [[4.0, 3, 1, 2]]}
FLAT: Scores = {"e000": [[1.0, 1, 1, 1]], "e001": [[4.0, 3, 2, 1]]}


def records(trained: Sequence[Scores], shuffled: Sequence[Scores] = ()) -> Records:
    """A method `m` on two seeds and, where they are given, on models of shuffled labels."""
    made = Records([model(seed=0), model(seed=1)])
    made.models += [replace(model(seed=s), key=f"shuffled-{s}", training=CONTROL, gate_passed=False) for s in (0, 1)]
    made.add("m", {"comprehensiveness": noisy(0.5, seeds=4)})
    made.score("m", *trained, *shuffled)
    if not shuffled:
        made.models = made.models[:2]
        made.explanations = made.explanations[:2]
    return made


def randomised(made: Records, *of_seed: Sequence[float]) -> Records:
    """Adds a row of parameter randomisation, with a tau per example."""
    for at, taus in enumerate(of_seed):
        own = made.explanations[at]
        plain = Row(f"{own.key}-sanity", "parameter-randomisation", 1, {}, "neither", kind="sanity")
        row = replace(plain, points=["readout", "whole model"], curve=[0.5, float(np.nan_to_num(taus).mean())])
        made.explanations[at] = replace(own, rows=[*own.rows, row])
        made.lines += [
            {"explain_key": own.key, "metric": "parameter-randomisation", "example": f"e{n:03d}", "value": tau}
            for n, tau in enumerate(taus)
        ]
    return made


def check(made: Records) -> SanityCheck:
    (found,) = made.board().sanity
    return found


def test_the_control_is_the_training_of_that_name() -> None:
    assert RANDOM_LABELS.name == CONTROL


def test_a_method_that_does_not_change_with_the_labels_fails() -> None:
    found = check(records([UP, UP], [UP, UP]))
    assert (found.check, found.tau, found.seeds_tau, found.passed) == ("label-randomisation", 1.0, 1.0, False)
    assert (found.margin, found.n) == (-0.5, 2)


def test_a_method_that_changes_with_the_labels_passes() -> None:
    found = check(records([UP, NEAR], [DOWN, DOWN]))
    # One swapped pair of six between the seeds: 4/6. Against the control -1 and -4/6.
    assert found.seeds_tau == pytest.approx(4 / 6, rel=1e-5)
    assert found.tau == pytest.approx(-5 / 6, rel=1e-5)
    assert found.margin == pytest.approx(2 / 6 + 5 / 6, rel=1e-5)
    assert found.passed is True


def test_exactly_half_of_what_other_seeds_reach_fails() -> None:
    found = check(randomised(records([UP, UP]), [0.5, 0.5], [0.5, 0.5]))
    assert (found.check, found.tau, found.margin, found.passed) == ("parameter-randomisation", 0.5, 0.0, False)
    assert check(randomised(records([UP, UP]), [0.5, 0.4], [0.5, 0.5])).passed is True


def test_layers_and_intervals_come_along() -> None:
    found = check(randomised(records([UP, UP]), [0.2, 0.4], [0.0, 0.2]))
    assert (found.points, found.curve) == (["readout", "whole model"], [0.5, 0.2])
    assert (found.low, found.high) == (0.1, 0.3)
    assert (found.margin_low, found.margin_high) == (0.2, 0.4)


def test_undefined_examples_are_counted_and_no_baseline_stands_in() -> None:
    found = check(randomised(records([UP, FLAT]), [0.2, np.nan], [0.4, np.nan]))
    assert found.tau == pytest.approx(0.3)
    assert (found.n, found.undefined_share) == (1, 0.5)
    assert (found.seeds_tau, found.seeds_undefined_share) == (1.0, 0.5)
    everywhere = check(randomised(records([UP, UP]), [np.nan, np.nan], [np.nan, np.nan]))
    assert (everywhere.tau, everywhere.passed, everywhere.reason) == (None, None, "undefined on every example")
    json.dumps(everywhere.to_json(), allow_nan=False)


def test_one_seed_has_nothing_to_be_held_against() -> None:
    made = randomised(records([UP, UP]), [0.2, 0.4])
    made.models, made.explanations, made.seeds = made.models[:1], made.explanations[:1], (0,)
    made.lines = [line for line in made.lines if line["explain_key"] == made.explanations[0].key]
    found = check(made)
    assert found.tau == pytest.approx(0.3)
    assert (found.seeds_tau, found.passed) == (None, None)
    assert "only one seed" in found.reason


def test_draws_are_compared_with_their_own() -> None:
    both: Scores = {name: [UP[name][0], DOWN[name][0]] for name in UP}
    assert check(records([both, both], [both, both])).tau == 1.0


def test_checks_are_no_standings_and_controls_are_not_checked() -> None:
    board = randomised(records([UP, UP], [UP, UP]), [0.2, 0.4], [0.2, 0.4]).board()
    assert {one.metric for one in board.standings} == {"comprehensiveness"}
    assert {one.training for one in board.sanity} == {"standard"}
    assert [one.check for one in board.sanity] == ["parameter-randomisation", "label-randomisation"]


def test_a_refused_row_says_why() -> None:
    made = records([UP, UP])
    refused = Row("k", "parameter-randomisation", 1, {}, "neither", "sanity", "skipped", "over the budget")
    made.explanations = [replace(one, rows=[*one.rows, replace(refused, key=one.key)]) for one in made.explanations]
    found = check(made)
    assert (found.tau, found.passed) == (None, None)
    assert "over the budget" in found.reason


def test_the_interval_contains_the_truth() -> None:
    """Examples whose taus are drawn around a known mean."""
    generator = np.random.default_rng(3)
    names = [f"e{number:03d}" for number in range(200)]
    trained: list[Scores] = [{name: [generator.normal(size=6).tolist()] for name in names} for _ in range(2)]
    taus = generator.normal(0.25, 0.1, size=(2, 200))
    found = check(randomised(records(trained), *taus.tolist()))
    assert found.low is not None
    assert found.high is not None
    assert found.seeds_low is not None
    assert found.seeds_high is not None
    assert found.low <= 0.25 <= found.high
    assert found.seeds_low <= 0.0 <= found.seeds_high


def test_models_of_one_seed_are_not_compared_where_there_are_two() -> None:
    # Each trained model explains as that of shuffled labels of its own seed, and unlike the other.
    assert check(records([UP, DOWN], [UP, DOWN])).tau == -1.0


def test_where_seeds_agree_no_more_than_by_chance_there_is_no_verdict() -> None:
    half: Scores = {"e000": UP["e000"], "e001": DOWN["e001"]}
    found = check(records([UP, half], [UP, half]))
    assert (found.tau, found.seeds_tau, found.passed) == (0.0, 0.0, None)
    assert found.reason == "not even models of different seeds agree more than by chance"
    # What stays as it is fails all the same.
    assert check(randomised(records([UP, half]), [1.0, 1.0], [1.0, 1.0])).passed is False
