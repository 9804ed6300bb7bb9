"""Metrics against marked tokens, from the plan to the stored rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from faithboard import suites
from faithboard.results import board_of, results_of
from faithboard.session import Place
from faithboard.suites import Suite
from tests import tiny

MARKED = ["auprc", "token-f1", "iou-f1"]
TASKS = """
import dataclasses
from tests import tiny

HUMAN = dataclasses.replace(tiny.TINY, name="human", rationale="human", planted={})

def of_nobody(split):
    return (dataclasses.replace(record, rationale=None) for record in tiny.generate(split))

EMPTY = dataclasses.replace(HUMAN, name="empty", generate=of_nobody)
"""


def suite_of(folder: Path, task: str, *metrics: str) -> Suite:
    file = folder / "marked.py"
    file.write_text(TASKS)
    reference = f"{tiny.TASK_FILE}:TINY" if task == "TINY" else f"{file}:{task}"
    return suites.changed(tiny.SUITE, tasks=[reference], metrics=list(metrics))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("human")
    where = tiny.place(folder / "results")
    assert tiny.carried_out(suite_of(folder, "HUMAN", *MARKED), where).failures == []
    return where


def test_the_length_of_a_rationale_is_that_of_the_dev_split_and_stands_in_the_row(place: Place) -> None:
    lengths = [len(record.text) for record in tiny.generate("dev")]
    share = round(sum(1 / length for length in lengths) / len(lengths), 6)
    for explanation in place.store.explanations():
        rows = {row.metric: row for row in explanation.rows}
        assert set(rows) == set(MARKED)
        assert "share" not in rows["auprc"].parameters
        assert rows["token-f1"].parameters["share"] == rows["iou-f1"].parameters["share"] == share
        assert rows["token-f1"].n == 100  # wrong predictions count: what people marked does not depend on the model
    board = board_of(results_of(place.store, "tiny-v1"))
    assert board.tables[0].data["splits"]["dev"]["rationale_share"] == share


def test_a_random_order_has_what_is_expected_of_it(place: Place) -> None:
    board = board_of(results_of(place.store, "tiny-v1"))
    for metric in ("auprc", "token-f1"):
        (guess,) = (s for s in board.standings if (s.method, s.metric) == ("random", metric))
        assert guess.metric_kind == "rationale"
        assert guess.value is not None
        assert guess.low is not None
        assert guess.high is not None
        # The width of the interval is about four standard errors.
        assert guess.expectation == pytest.approx(guess.value, abs=guess.high - guess.low)


def test_nothing_is_scored_twice(place: Place, tmp_path: Path) -> None:
    outcome = tiny.carried_out(suite_of(tmp_path, "HUMAN", *MARKED), place)
    assert (outcome.explained, outcome.scored) == (0, 0)


def test_marks_of_people_and_planted_ones_have_metrics_of_their_own(tmp_path: Path) -> None:
    every = ("precision@k", "mean-rank", "auprc")
    human = tiny.planned(suite_of(tmp_path, "HUMAN", *every), tiny.place(tmp_path))
    assert [metric.name for metric in human.jobs[0].explanations[0].metrics] == ["precision@k", "auprc"]
    assert human.inapplicable == ("mean-rank is about planted marks, and those of human are human",)
    planted = tiny.planned(suite_of(tmp_path, "TINY", *every), tiny.place(tmp_path))
    assert [metric.name for metric in planted.jobs[0].explanations[0].metrics] == ["precision@k", "mean-rank"]
    assert planted.inapplicable == ("auprc is about human or supporting-facts marks, and those of tiny are planted",)


def test_without_a_rationale_in_dev_there_is_no_length(tmp_path: Path) -> None:
    plan = tiny.planned(suite_of(tmp_path, "EMPTY", "comprehensiveness", "token-f1"), tiny.place(tmp_path))
    assert plan.inapplicable == ("token-f1 is as long as the rationales of the dev split, and that of empty has none",)
