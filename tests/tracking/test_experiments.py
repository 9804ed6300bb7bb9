"""What MLflow is to show, without MLflow."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from faithboard.tracking import Experiment, Run, experiments_of
from faithboard.tracking.experiments import VIEW_TAG, link
from faithboard.tracking.runs import metric_name
from tests.boards import Records, model, noisy
from tests.report.example import example_records


def experiments(made: Records) -> dict[str, Experiment]:
    found = experiments_of(made.board(), made.models, made.explanations, made.values)
    return {experiment.name: experiment for experiment in found}


def only_run(made: Records) -> Run:
    (experiment,) = experiments(made).values()
    (run,) = experiment.runs
    return run


@pytest.fixture(scope="module")
def example() -> dict[str, Experiment]:
    return experiments(example_records())


def planted(example: dict[str, Experiment], method: str) -> Run:
    return next(run for run in example["quick v1 / planted"].runs if run.params["method"] == method)


def test_metric_names_hold_only_what_mlflow_allows() -> None:
    assert metric_name("precision@k") == "precision-at-k"
    assert metric_name("f1 (weighted)|µ") == "f1 _weighted___"
    assert re.fullmatch(r"[A-Za-z0-9_\-.:/ ]+", metric_name("naopc@50%: a/b"))


def test_there_is_one_experiment_per_task_and_one_flat_run_per_method(example: dict[str, Experiment]) -> None:
    assert set(example) == {f"quick v1 / {task}" for task in ("planted", "movies", "weak")}
    assert [run.name for run in example["quick v1 / planted"].runs] == [
        *("probes", "lime", "attention-norm", "random", "attention", "gradient-x-input", "leave-one-out")
    ]
    identities = [run.identity for experiment in example.values() for run in experiment.runs]
    assert len(set(identities)) == len(identities) == 4 * 3 + 2 + 1


def test_the_best_run_comes_last_so_that_mlflow_lists_it_first(example: dict[str, Experiment]) -> None:
    assert [run.name for run in example["quick v1 / movies"].runs] == [
        *("random", "gradient-x-input", "attention", "leave-one-out")
    ]


def test_the_saved_view_shows_the_metrics_by_rank(example: dict[str, Experiment]) -> None:
    view = json.loads(example["quick v1 / planted"].tags[VIEW_TAG])
    assert view["selectedColumns"][:2] == ["metrics.`precision-at-k`", "metrics.`rank/precision-at-k`"]
    assert (view["orderByKey"], view["orderByAsc"]) == ("metrics.`rank/precision-at-k`", True)
    logged = {f"metrics.`{p.metric}`" for run in example["quick v1 / planted"].runs for p in run.points}
    assert set(view["selectedColumns"]) <= logged
    assert link("7", 5000).startswith("http://127.0.0.1:5000/#/experiments/7/runs?")


def test_seeds_are_steps_and_the_mean_is_the_metric(example: dict[str, Experiment]) -> None:
    points = planted(example, "leave-one-out").points
    seeds = {point.step: point.value for point in points if point.metric == "seed/comprehensiveness"}
    (mean,) = (point for point in points if point.metric == "comprehensiveness")
    assert seeds.keys() == {0, 1}
    assert mean.value == pytest.approx(sum(seeds.values()) / 2, rel=1e-5)
    assert mean.step == 0


def test_cost_and_rank_stand_beside_the_mean(example: dict[str, Experiment]) -> None:
    points = {point.metric: point.value for point in planted(example, "gradient-x-input").points}
    assert points["cost/backward-steps"] == 12.0
    assert points["cost/examples-per-second"] > 0
    assert points["rank/comprehensiveness"] == 2.0
    assert points["interval-low/precision-at-k"] < points["precision-at-k"] < points["interval-high/precision-at-k"]


def test_every_cost_is_logged_with_the_setting_it_was_measured_in(example: dict[str, Experiment]) -> None:
    runs = {run.params["method"]: run for run in example["quick v1 / movies"].runs}
    points = {point.metric.removeprefix("cost/"): point.value for point in runs["random"].points}
    found = {name: points[name] for name in ("forward-steps", "backward-steps", "peak-memory-mb", "batch-size")}
    assert found == {"forward-steps": 12.0, "backward-steps": 0.0, "peak-memory-mb": 12.5, "batch-size": 32.0}
    assert (points["tokens-per-second"], points["spread"], points["joules-per-example"]) == (960.0, 0.04, 0.2)
    assert points["examples-per-second"] > 0
    timed = {name: value for name, value in runs["random"].params.items() if name.startswith("timed_")}
    assert timed == {
        "timed_device": "NVIDIA H200",
        "timed_dtype": "float32",
        "timed_torch": "2.13.0",
        "timed_threads": "1",
    }
    assert "cost/batch-size" not in {point.metric for point in runs["attention"].points}  # timed on another device


def test_settings_of_the_model_and_its_training_are_parameters(example: dict[str, Experiment]) -> None:
    for method in ("random", "probes"):
        params = planted(example, method).params
        assert (params["hidden"], params["epochs"], params["learning_rate"]) == ("8", "3", "0.001")
        assert (params["vectors"], params["seeds"], params["examples"]) == ("random", "0, 1", "40")


def test_probes_are_a_run_with_their_values_and_a_step_per_class(example: dict[str, Experiment]) -> None:
    run = planted(example, "probes")
    alone = {point.metric: point.value for point in run.points if not point.metric.startswith("class/")}
    assert (
        alone["interval-low/tau-attention-loo"] < alone["tau-attention-loo"] < alone["interval-high/tau-attention-loo"]
    )
    assert alone.keys() >= {"sd/tau-attention-loo", "significant/tau-attention-loo", "undefined/tau-attention-loo"}
    assert [point.step for point in run.points if point.metric == "class/tau-attention-loo"] == [0, 1]
    assert set(run.values["metric"]) == {"tau-attention-loo", "p-attention-loo", "predicted-class"}
    assert run.status == "FINISHED"


def test_probes_that_failed_are_a_failed_run_with_the_reason() -> None:
    made = Records([model(seed=0), model(seed=1)])
    made.add("", {}, status="failed", reason="it raised")
    run = only_run(made)
    assert (run.name, run.status, run.tags["faithboard.reason"]) == ("probes", "FAILED", "it raised")
    assert run.page.startswith("# quick v1\n\nHow good are these models")


def test_a_model_without_methods_is_shown_with_its_probes() -> None:
    made = Records([model(seed=0), model(seed=1)])
    made.add("", {"tau-attention-loo": noisy(0.3)})
    assert "### Probes of the model" in only_run(made).page


def test_models_of_other_seeds_take_no_part() -> None:
    made = Records([model(seed=seed) for seed in (0, 1)], seeds=[0])
    made.add("random", {"comprehensiveness": noisy(0.1)})
    run = only_run(made)
    assert run.params["seeds"] == "0"
    assert set(run.values["seed"]) == {0}


def test_erasure_curves_have_one_step_per_percentage() -> None:
    made = Records([model(seed=0), model(seed=1)])
    made.add("random", {"comprehensiveness": noisy(0.1)}, row={"points": ["1%", "50%"], "curve": [0.05, 0.3]})
    run = only_run(made)
    curve = {point.step: point.value for point in run.points if point.metric == "curve/comprehensiveness"}
    assert curve == {1: 0.05, 50: 0.3}


def test_what_is_undefined_is_not_logged() -> None:
    made = Records([model(seed=0), model(seed=1)])
    made.add("a", {"comprehensiveness": np.full((2, 5), np.nan), "sufficiency": noisy(0.1, examples=5)})
    run = only_run(made)
    assert np.isfinite([point.value for point in run.points]).all()
    assert {"sufficiency"} == {p.metric for p in run.points if p.metric in ("comprehensiveness", "sufficiency")}


def test_a_method_without_a_result_is_a_failed_run_with_the_reason(example: dict[str, Experiment]) -> None:
    run = planted(example, "lime")
    assert run.status == "FAILED"
    assert "scores are not finite" in run.tags["faithboard.not_ranked"]
    assert planted(example, "random").status == "FINISHED"


def test_per_example_values_are_ids_and_numbers(example: dict[str, Experiment]) -> None:
    values = planted(example, "attention").values
    assert list(values.columns) == ["metric", "example", "value", "seed"]
    assert len(values) == 3 * 2 * 40
    assert set(values["seed"]) == {0, 1}


def test_a_run_says_what_must_stand_beside_its_figures(example: dict[str, Experiment]) -> None:
    said = {name: {run.tags["faithboard.reservations"] for run in one.runs} for name, one in example.items()}
    assert said["quick v1 / movies"] == {"UNVERIFIED DATA"}
    (smaller,) = said["quick v1 / planted"]
    assert re.fullmatch(r"train [\d,]+ of 6,920 published rows", smaller)
    for experiment in example.values():
        for run in experiment.runs:
            assert run.tags["mlflow.note.content"].startswith(run.tags["faithboard.reservations"])
    made = Records([model()])
    made.add("attention", {"comprehensiveness": noisy(0.5)[:1]})
    whole = only_run(made)
    assert whole.tags["faithboard.reservations"] == ""
    assert whole.tags["mlflow.note.content"].startswith("| metric")


def test_the_key_is_a_hash_of_the_content(example: dict[str, Experiment]) -> None:
    run = planted(example, "attention")
    again = planted(experiments(example_records()), "attention")
    assert again.key == run.key
    changes: list[dict[str, Any]] = [
        {"page": "other"},
        {"params": {}},
        {"points": run.points[1:]},
        {"tags": {}},
        {"status": "FAILED"},
    ]
    for change in changes:
        assert replace(run, **change).key != run.key


def test_a_record_that_is_written_again_at_another_time_is_the_same(example: dict[str, Experiment]) -> None:
    def at(time: str) -> str:
        made = example_records()
        for explanation in made.explanations:
            explanation.provenance["time"] = time
        return planted(experiments(made), "lime").key

    assert at("2026-01-01T00:00:00Z") == at("2026-02-02T00:00:00Z")


def test_run_names_say_only_what_tells_them_apart() -> None:
    made = Records([model(seed=s, training=t, key=f"{t}-{s}") for t in ("standard", "guided") for s in (0, 1)])
    made.add("random", {"comprehensiveness": noisy(0.1, seeds=4)})
    (experiment,) = experiments(made).values()
    assert {run.name for run in experiment.runs} == {"random | standard", "random | guided"}
    made = Records([model(seed=0), model(seed=0, key="newer", task_version=2)], seeds=[0])
    made.add("random", {"comprehensiveness": noisy(0.1)})
    (experiment,) = experiments(made).values()
    assert {run.name for run in experiment.runs} == {"random | v1", "random | v2"}
