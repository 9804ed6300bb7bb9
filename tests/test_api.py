"""The Python API mirrors the commands."""

from __future__ import annotations

from pathlib import Path

import pytest

import faithboard
from faithboard.api import EVALUATED, EXPLAINED
from faithboard.errors import ContractError, SuiteError
from faithboard.store import Store
from tests import tiny
from tests.cli.test_commands import toml

TASK = f"{tiny.TASK_FILE}:TINY"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("api")
    (place / "broken.py").write_text(tiny.BROKEN)
    frame = faithboard.evaluate(suite=toml(place), results=place / "results")
    assert len(frame) == 4
    return place


def test_evaluate_gives_a_row_per_method_and_metric_and_computes_nothing_twice(folder: Path) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in (folder / "results" / "models").iterdir()}
    frame = faithboard.evaluate(suite=toml(folder), results=folder / "results")
    assert list(frame.columns[: len(EVALUATED)]) == list(EVALUATED)
    precision = frame[frame["metric"] == "precision@k"].set_index("method")
    assert precision["rank"].to_dict() == {"gradient-l2": 1, "random": 2}
    assert set(precision["status"]) == {"ok"}
    assert set(precision["reason"]) == {""}
    assert ((precision["low"] <= precision["value"]) & (precision["value"] <= precision["high"])).all()
    assert {path.name: path.stat().st_mtime_ns for path in (folder / "results" / "models").iterdir()} == before


def test_evaluate_shows_what_was_asked_for_alone(folder: Path) -> None:
    frame = faithboard.evaluate(
        "gradient-l2", suite=toml(folder), metrics="comprehensiveness", results=folder / "results"
    )
    assert list(zip(frame["method"], frame["metric"], strict=True)) == [("gradient-l2", "comprehensiveness")]


def test_a_method_that_fails_is_a_row_with_its_status(folder: Path, tmp_path: Path) -> None:
    methods = ["random", "gradient-l2", f"{folder}/broken.py:raises"]
    frame = faithboard.evaluate(methods, suite=toml(folder), results=folder / "results")
    failed = frame[frame["method"] == "raises"]
    assert set(failed["status"]) == {"failed"}
    assert all("KeyError" in reason for reason in failed["reason"])
    assert failed["rank"].isna().all()
    assert set(frame[frame["method"] == "gradient-l2"]["status"]) == {"ok"}
    Store(folder / "results").forget("tiny-v1", "raises")


def test_explain_gives_a_row_per_word_and_method(folder: Path) -> None:
    frame = faithboard.explain(
        ["aurora zzzz", "basalt"], task=TASK, methods=["gradient-l2", "random"], results=folder / "results"
    )
    assert list(frame.columns) == list(EXPLAINED)
    assert list(frame["token"]) == ["aurora", "zzzz"] * 2 + ["basalt"] * 2
    assert list(frame["position"]) == [0, 1, 0, 1, 0, 0]
    assert list(frame["prediction"]) == ["north"] * 4 + ["south"] * 2
    assert list(frame["known"]) == [True, False] * 2 + [True] * 2
    assert (frame["probability"] > 0.5).all()


def test_explain_of_an_example_marks_its_rationale(folder: Path) -> None:
    frame = faithboard.explain(examples="test-3", task=TASK, methods="gradient-l2", results=folder / "results")
    assert list(frame[frame["rationale"]]["token"]) == ["basalt"]


def test_a_method_that_cannot_explain_is_an_error(folder: Path) -> None:
    with pytest.raises(ContractError, match="raises does not explain text-"):
        faithboard.explain("aurora", task=TASK, methods=f"{folder}/broken.py:raises", results=folder / "results")


def test_compare_gives_a_row_per_metric(folder: Path) -> None:
    frame = faithboard.compare("gradient-l2", "random", task="tiny", results=folder / "results")
    assert list(frame["metric"]) == ["comprehensiveness", "precision@k"]
    assert set(frame["better"]) == {"gradient-l2"}
    assert (frame["wins"] + frame["ties"] + frame["losses"] == frame["n"]).all()
    assert ((frame["low"] <= frame["difference"]) & (frame["difference"] <= frame["high"])).all()
    with pytest.raises(SuiteError, match="did you mean random"):
        faithboard.compare("gradient-l2", "randm", results=folder / "results")
