"""Rows of the metrics in a real run: status, counts, curves with their band, medians, and what each costs."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from faithboard import suites
from faithboard.metric import RationaleMetric, RetrainMetric
from faithboard.metrics import BUILTIN
from faithboard.metrics.naopc import bounds_steps
from faithboard.records import Row
from faithboard.results import board_of, results_of
from faithboard.session import Place
from tests import tiny

METRICS = [metric.name for metric in BUILTIN if not isinstance(metric, RationaleMetric | RetrainMetric)]
METHODS = ["random", "gradient-l2", "gradient-x-input", "integrated-gradients"]
SUITE = dataclasses.replace(suites.changed(tiny.SUITE, methods=METHODS, metrics=METRICS), name="erased", examples=12)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Every metric that trains nothing on the tiny task. Tests only read it."""
    place = tiny.place(tmp_path_factory.mktemp("erased"))
    assert tiny.carried_out(SUITE, place).failures == []
    return place


def rows_of(place: Place, method: str) -> dict[str, Row]:
    (found,) = (record for record in place.store.explanations() if record.method == method)
    return {row.metric: row for row in found.rows}


def test_every_metric_has_a_row_for_every_method(finished: Place) -> None:
    for method in METHODS:
        rows = rows_of(finished, method)
        assert set(rows) == set(METRICS)
        for row in rows.values():
            promised = row.metric != "completeness" or method == "integrated-gradients"
            assert row.status == ("ok" if promised else "unsupported")
            assert (row.value is not None) == promised
    assert rows_of(finished, "random")["completeness"].reason.startswith("not promised")


def test_curves_have_a_band_that_holds_them(finished: Place) -> None:
    row = rows_of(finished, "random")["removal-accuracy-auc"]
    assert row.points == [f"{share}%" for share in range(0, 100, 10)]
    for low, mean, high in zip(row.curve_low, row.curve, row.curve_high, strict=True):
        assert low <= mean <= high
    assert row.value == pytest.approx(np.trapezoid(row.curve, dx=0.1) / 0.9)


def test_completeness_is_a_median_with_its_tail(finished: Place) -> None:
    row = rows_of(finished, "integrated-gradients")["completeness"]
    assert (row.kind, row.statistic, row.points) == ("amounts", "median", ["median", "95th percentile"])
    (record,) = (one for one in finished.store.explanations() if one.method == "integrated-gradients")
    stored = finished.store.values(record.key)
    gaps = stored[stored["metric"] == "completeness"]["value"]
    assert row.value == pytest.approx(gaps.median())
    assert row.curve == pytest.approx([gaps.median(), np.percentile(gaps, 95)])
    assert row.low is not None
    assert row.high is not None
    assert row.low <= gaps.median() <= row.high


def test_long_texts_are_counted_in_the_row(finished: Place) -> None:
    row = rows_of(finished, "gradient-l2")["naopc-comprehensiveness"]
    assert row.n + row.excluded == 12
    assert row.counts.get("over 50 tokens, not computed", 0) <= row.excluded
    assert row.value is not None
    assert 0 <= row.value <= 1


def test_the_board_shows_them_and_ranks_no_median(finished: Place) -> None:
    board = board_of(results_of(finished.store, "erased-v1"))
    found = {(one.method, one.metric): one for one in board.standings}
    assert {method for method, metric in found if metric == "completeness"} == {"integrated-gradients"}
    completeness = found["integrated-gradients", "completeness"]
    assert (completeness.rank, completeness.statistic, completeness.metric_kind) == (None, "median", "amounts")
    assert completeness.value == pytest.approx(
        rows_of(finished, "integrated-gradients")["completeness"].value, rel=1e-5
    )
    curve = found["random", "comprehensiveness-unk"]
    assert len(curve.curve_low) == len(curve.curve) == len(curve.curve_high) == 5
    assert found["random", "max-sensitivity"].value == 0.0
    assert found["gradient-l2", "infidelity"].rank is not None


def test_a_second_run_finds_everything_stored(finished: Place) -> None:
    plan = tiny.planned(SUITE, finished)
    assert {one.state for one in plan.jobs[0].explanations} == {"stored"}


def test_what_a_model_cannot_have_is_said_and_not_failed(tmp_path: Path) -> None:
    chosen = dataclasses.replace(SUITE, models=("bilstm-none",), metrics=("comprehensiveness", "sufficiency-attention"))
    plan = tiny.planned(chosen, tiny.place(tmp_path))
    assert plan.inapplicable == ("sufficiency-attention needs attention, decode, which bilstm-none has not on tiny",)
    assert [metric.name for metric in plan.jobs[0].explanations[0].metrics] == ["comprehensiveness"]


def test_costs_are_planned(tmp_path: Path) -> None:
    place = tiny.place(tmp_path)

    def scoring(*metrics: str) -> dict[str, float]:
        plan = tiny.planned(dataclasses.replace(SUITE, metrics=metrics), place)
        return {one.name: one.scoring for one in plan.jobs[0].explanations}

    lengths = tiny.planned(SUITE, place).jobs[0].prepared.lengths
    once = float(sum(lengths))
    assert scoring("decision-flip-share")["gradient-l2"] == sum(min(t, 50) * t for t in lengths)
    again = scoring("max-sensitivity")
    assert (again["random"], again["gradient-l2"], again["gradient-x-input"]) == (0.0, 10 * 2 * once, 10 * 2 * once)
    # What is spent once for all methods stands with the first of them.
    assert scoring("infidelity") == dict.fromkeys(METHODS, 0.0) | {"random": 100 * once}
    assert scoring("comprehensiveness-attention") == dict.fromkeys(METHODS, 0.0) | {"random": once}
    bounds = sum(map(bounds_steps, lengths))
    assert scoring("naopc-comprehensiveness")["gradient-l2"] == 5 * once
    assert scoring("naopc-comprehensiveness")["random"] == 10 * 5 * once + bounds


def test_only_the_examples_that_are_computed_cost(tmp_path: Path) -> None:
    file = tmp_path / "few.py"
    file.write_text(
        "from dataclasses import replace\n"
        "from faithboard.metrics.naopc import NAOPC_COMPREHENSIVENESS\n"
        "FEW = replace(NAOPC_COMPREHENSIVENESS, name='few', most=3)\n"
    )
    plan = tiny.planned(dataclasses.replace(SUITE, metrics=(f"{file}:FEW",)), tiny.place(tmp_path / "results"))
    (first, *_) = (one for one in plan.jobs[0].explanations if one.name == "gradient-l2")
    lengths = plan.jobs[0].prepared.lengths
    assert len(lengths) > 3
    assert first.scoring == 5 * sum(lengths[:3])
    (chance, *_) = (one for one in plan.jobs[0].explanations if one.name == "random")
    assert chance.scoring == 10 * 5 * sum(lengths[:3]) + sum(map(bounds_steps, lengths[:3]))


def test_reruns_over_the_budget_are_skipped_rows_until_it_is_raised(tmp_path: Path) -> None:
    place = tiny.place(tmp_path)
    lengths = tiny.planned(SUITE, place).jobs[0].prepared.lengths
    names = {"methods": ("random", "gradient-l2"), "metrics": ("max-sensitivity", "comprehensiveness")}
    poor = dataclasses.replace(SUITE, budget=3 * sum(lengths), **names)  # type: ignore[arg-type]
    tiny.carried_out(poor, place)
    skipped = rows_of(place, "gradient-l2")["max-sensitivity"]
    assert skipped.status == "skipped"
    assert "10 runs of" in skipped.reason
    assert rows_of(place, "random")["max-sensitivity"].status == "ok"
    assert {one.state for one in tiny.planned(poor, place).jobs[0].explanations} == {"stored"}
    rich = dataclasses.replace(poor, budget=30 * sum(lengths))
    outcome = tiny.carried_out(rich, place)
    assert (outcome.explained, outcome.scored) == (0, 1)
    assert rows_of(place, "gradient-l2")["max-sensitivity"].status == "ok"


FAILS_WHEN_RUN_AGAIN = """
from faithboard import method

@method("once", kind="sensitivity", signed=False, source="a test")
def once(model, batch, rng):
    return model.embedding(batch.ids).norm(dim=2)
"""


def test_a_method_that_cannot_be_run_again_fails_in_that_metric_alone(tmp_path: Path) -> None:
    file = tmp_path / "once.py"
    file.write_text(FAILS_WHEN_RUN_AGAIN)
    place = tiny.place(tmp_path / "results")
    methods = (f"{file}:once", "gradient-l2")
    chosen = dataclasses.replace(SUITE, methods=methods, metrics=("max-sensitivity", "comprehensiveness"))
    outcome = tiny.carried_out(chosen, place)
    assert len(outcome.failures) == 1
    assert "max-sensitivity of once on tiny" in outcome.failures[0]
    assert {name: row.status for name, row in rows_of(place, "once").items()} == {
        "comprehensiveness": "ok",
        "max-sensitivity": "failed",
    }
    assert rows_of(place, "gradient-l2")["max-sensitivity"].status == "ok"
