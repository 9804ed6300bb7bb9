"""The sanity checks through plan, run and board: what they cost, and what is asked of models of shuffled labels."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from faithboard import suites
from faithboard.metrics.sanity import LAYERS, POINTS
from faithboard.results import board_of, results_of, suites_in
from tests import tiny

CHOSEN = dataclasses.replace(
    suites.changed(
        tiny.SUITE,
        methods=["random", "attention"],
        metrics=["comprehensiveness", "parameter-randomisation"],
        trainings=["standard", "random-labels"],
        settings={"epochs": 1},
    ),
    seeds=(0, 1),
    examples=20,
)


def test_every_layer_costs_an_explanation_and_a_control_is_asked_for_no_metric(tmp_path: Path) -> None:
    plan = tiny.planned(dataclasses.replace(CHOSEN, metrics=("parameter-randomisation",)), tiny.place(tmp_path))
    trained, control = plan.jobs[0], plan.jobs[2]
    assert (trained.training.procedure, control.training.procedure) == ("standard", "random-labels")
    for one in trained.explanations:
        assert one.forward is not None
        assert one.backward is not None
        assert one.scoring == pytest.approx(len(LAYERS) * (one.forward + one.backward))
    assert [(one.state, one.metrics, one.scoring) for one in control.explanations] == [("run", (), 0.0)] * 2
    assert control.train_steps == trained.train_steps
    assert control.key != trained.key


def test_checks_are_made_of_what_a_run_stores(tmp_path: Path) -> None:
    where = tiny.place(tmp_path)
    outcome = tiny.carried_out(CHOSEN, where)
    assert (outcome.failures, outcome.trained) == ([], 4)
    (name,) = suites_in(where.store)
    board = board_of(results_of(where.store, name))
    found = {(one.method, one.check): one for one in board.sanity}
    assert len(found) == 4
    drawn = found["random", "parameter-randomisation"]
    assert (drawn.tau, drawn.passed, drawn.points) == (1.0, False, list(POINTS))
    attention = found["attention", "parameter-randomisation"]
    assert attention.curve[0] == 1.0  # the readout comes after attention
    assert attention.tau == attention.curve[-1]
    assert attention.tau is not None
    assert attention.tau < 1
    assert {one.training for one in board.standings} == {"standard"}
    assert [(one.a, one.b) for one in board.method_agreement] == [("attention", "random")]
