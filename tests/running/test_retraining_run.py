"""Retraining through plan, run and board: what it costs, what is refused, what a kill leaves, who fails alone."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from faithboard import suites
from faithboard.records import Explanation
from faithboard.report.section import section
from faithboard.results import board_of, results_of
from faithboard.session import Place
from faithboard.stages import Stages
from faithboard.suites import Suite
from tests import tiny
from tests.own_model import DEFINITION

METRICS = """
from faithboard.metric import RetrainMetric

ONCE = RetrainMetric("once", 1, "lower", "a test", shares=(30, 70), recursive=False)
AGAIN = RetrainMetric("again", 1, "lower", "a test", shares=(30, 70), recursive=True)
"""
METHODS = """
from faithboard import method
import torch

@method("test-texts-only", kind="sensitivity", signed=False, source="a test")
def test_texts_only(model, batch, rng):
    if not all(name.startswith("test") for name in batch.example_id):
        raise ValueError("a training text")
    return batch.ids.float()
"""


def suite_of(folder: Path, *methods: str, metrics: str = "ONCE AGAIN") -> Suite:
    folder.mkdir(exist_ok=True)
    (folder / "own_metrics.py").write_text(METRICS)
    (folder / "own_methods.py").write_text(METHODS)
    chosen = suites.changed(
        tiny.SUITE,
        methods=[method.replace("own:", f"{folder}/own_methods.py:") for method in methods],
        metrics=[f"{folder}/own_metrics.py:{name}" for name in metrics.split()],
        settings={"epochs": 2},
    )
    return dataclasses.replace(chosen, name="retrained", examples=30, budget=10**9)


def of(place: Place, method: str) -> Explanation:
    (found,) = (record for record in place.store.explanations() if record.method == method)
    return found


def test_trainings_and_the_explanations_before_them_are_planned(tmp_path: Path) -> None:
    plan = tiny.planned(suite_of(tmp_path, "random", "leave-one-out"), tiny.place(tmp_path / "results"))
    (job,) = plan.jobs
    train, dev = (job.prepared.data.splits[split] for split in ("train", "dev"))

    def left(length: int, share: int) -> int:
        return length - -(-length * share // 100)

    trained = [2 * 2 * sum(left(len(one.tokens), share) for one in train) for share in (30, 70)]
    every = [len(one.tokens) for one in [*train, *dev, *job.prepared.examples]]
    whole, rest = (sum(left(length, share) ** 2 for length in every) for share in (0, 30))
    cost = {one.name: one.scoring for one in job.explanations}
    assert cost["random"] == 2 * sum(trained)
    assert cost["leave-one-out"] == 2 * sum(trained) + whole + (whole + rest)


def test_what_is_over_the_budget_is_a_skipped_row_with_its_cost(tmp_path: Path) -> None:
    suite, place = suite_of(tmp_path, "random", "leave-one-out", metrics="ONCE"), tiny.place(tmp_path / "results")
    cost = {one.name: one.scoring for one in tiny.planned(suite, place).jobs[0].explanations}
    assert cost["random"] < cost["leave-one-out"]
    poor = dataclasses.replace(suite, budget=int(cost["random"]))
    refused = {one.name: one.refused for one in tiny.planned(poor, place).jobs[0].explanations}
    assert refused["random"] == ()
    ((metric, reason),) = refused["leave-one-out"]
    assert metric.name == "once"
    assert reason == (
        f"2 trainings and their explanations, {cost['leave-one-out']:,.0f} token steps, are over the budget of "
        f"{poor.budget:,} (see --over-budget)"
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Both forms for two methods on the tiny task. Tests only read it."""
    place = tiny.place(tmp_path_factory.mktemp("retrained"))
    assert tiny.carried_out(suite_of(place.store.root / "own", "random", "attention"), place).failures == []
    return place


def test_rows_have_a_value_per_example_and_a_curve_and_nothing_else_is_left(finished: Place) -> None:
    for method in ("random", "attention"):
        record = of(finished, method)
        values = finished.store.values(record.key)
        for row in record.rows:
            own = values[values["metric"] == row.metric]
            assert (row.kind, row.status, row.points, row.n) == ("retraining", "ok", ["30%", "70%"], 30)
            assert row.value == pytest.approx(own["value"].mean())
            assert row.curve == pytest.approx([sum(at) / 30 for at in zip(*own["points"], strict=True)])
            assert set(own["value"]) <= {0.0, 0.5, 1.0}
    assert not list(finished.store.root.glob("explanations/*.stages"))
    assert not list(finished.store.root.glob("models/*.checkpoint"))


def test_a_second_run_finds_everything_stored(finished: Place) -> None:
    plan = tiny.planned(suite_of(finished.store.root / "own", "random", "attention"), finished)
    assert {one.state for one in plan.jobs[0].explanations} == {"stored"}


def test_the_board_ranks_it_and_the_page_shows_curves_and_what_they_cannot_tell(finished: Place) -> None:
    board = board_of(results_of(finished.store, "retrained-v1"))
    found = {(one.method, one.metric): one for one in board.standings}
    assert all(one.rank is not None and one.ranked == 2 for one in found.values())
    assert all(len(one.curve_low) == len(one.curve) == 2 for one in found.values())
    page = section(board, board.tables[0])
    assert "| method      | again ↓" in page
    assert "band of `random`" in page
    assert "is removed can itself tell the class" in page


def test_a_killed_run_trains_no_stage_again_and_ends_with_the_same_bytes(
    finished: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tiny.place(tmp_path / "results")
    suite = suite_of(finished.store.root / "own", "random", "attention")
    save, done = Stages.save_result, []

    def saved(self: Stages, name: str, state: dict[str, object]) -> None:
        save(self, name, state)
        done.append((self.folder, name))
        if len(done) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Stages, "save_result", saved)
    with pytest.raises(KeyboardInterrupt):
        tiny.carried_out(suite, place)
    assert list(place.store.root.glob("explanations/*.stages"))
    outcome = tiny.carried_out(suite, place)
    assert (outcome.trained, outcome.failures) == (0, [])
    # Of two methods each three stages: both forms share the first.
    assert len(done) == len(set(done)) == 6
    for method in ("random", "attention"):
        key = of(place, method).key
        assert of(place, method).rows == of(finished, method).rows
        name = f"explanations/{key}.values.parquet"
        assert (place.store.root / name).read_bytes() == (finished.store.root / name).read_bytes()
    assert not list(place.store.root.glob("explanations/*.stages"))


def test_a_method_that_fails_on_a_training_text_fails_alone(tmp_path: Path) -> None:
    place = tiny.place(tmp_path / "results")
    outcome = tiny.carried_out(suite_of(tmp_path, "own:test_texts_only", "random", metrics="ONCE"), place)
    (failure,) = outcome.failures
    assert failure.startswith("once of test-texts-only on tiny / bilstm-additive / standard / seed 0: it raised")
    (row,) = of(place, "test-texts-only").rows
    assert (row.status, row.value) == ("failed", None)
    assert "ValueError: a training text" in row.reason
    assert of(place, "random").rows[0].status == "ok"
    assert not list(place.store.root.glob("explanations/*.stages"))
    again = tiny.planned(suite_of(tmp_path, "own:test_texts_only", "random", metrics="ONCE"), place)
    assert {one.state for one in again.jobs[0].explanations} == {"stored"}


def test_a_model_of_ones_own_cannot_be_trained_anew(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(DEFINITION)
    suite = dataclasses.replace(suite_of(tmp_path, "random"), models=(f"{file}:bag_of_words",))
    plan = tiny.planned(suite, tiny.place(tmp_path / "results"))
    name = plan.jobs[0].model.name
    assert plan.inapplicable == tuple(
        f"{metric} trains models anew, and {name} is trained by its own file" for metric in ("once", "again")
    )
    assert plan.jobs[0].explanations[0].metrics == ()
