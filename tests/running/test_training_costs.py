"""What a training costs beside standard training is measured on request and kept beside the model's record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from faithboard import suites
from faithboard.report import models_page
from faithboard.results import board_of, results_of
from faithboard.running import training_costs
from faithboard.running.training_costs import measure_training_costs
from faithboard.session import Place
from faithboard.suites import Suite
from faithboard.training.cost import Cost
from tests import tiny
from tests.running.test_fitting import Told, own, with_training


def of_trainings(*names: str) -> Suite:
    """The models of the tiny suite with these trainings, one epoch each, with nothing asked of them."""
    return suites.models_only(with_training(*names, epochs=1))


def measured(suite: Suite, place: Place) -> tuple[list[str], list[str]]:
    """What failed and what was said."""
    told = Told()
    return measure_training_costs(tiny.planned(suite, place), place.store, place.device, told), told.lines


def invented(asked: list[tuple[str, ...]]) -> Any:
    """In place of the measuring: standard training takes 2 s and 10 MiB, any other three and two times as much."""

    def costs(model: object, data: object, config: object, trainings: Any) -> dict[str, Cost]:
        names = tuple(one.name for one in trainings)
        asked.append(names)
        return {name: Cost(2.0, 10.0) if name == "standard" else Cost(6.0, 20.0) for name in names}

    return costs


def test_it_is_kept_in_the_record_and_shown_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, suite = tiny.place(tmp_path / "results"), of_trainings("standard", "saliency-guided")
    tiny.carried_out(suite, place)
    before = {record.training: record for record in place.store.models()}
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(training_costs, "training_cost", invented(asked))
    failures, told = measured(suite, place)
    assert failures == []
    assert asked == [("standard", "saliency-guided")]
    assert told[-1].endswith("3.0 times the seconds and 2.0 times the memory of standard training")

    after = {record.training: record for record in place.store.models()}
    assert after["standard"] == before["standard"]
    guided = after["saliency-guided"]
    assert (guided.key, guided.weights_sha256) == (before["saliency-guided"].key, guided.weights_sha256)
    cost = guided.training_cost
    assert (cost["seconds"], cost["standard_seconds"]) == (6.0, 2.0)
    assert (cost["memory_mb"], cost["standard_memory_mb"]) == (20.0, 10.0)
    assert cost["device"] == "cpu"
    assert tiny.planned(suite, place).jobs[1].key == guided.key

    page = models_page(board_of(results_of(place.store, f"{suite.name}-v1"))).split("## Cost of training")[1]
    (row,) = [line for line in page.splitlines() if "saliency-guided" in line]
    cells = [cell.strip() for cell in row.split("|")]
    assert cells[4:10] == ["6", "2", "3.0", "20", "10", "2.0"]


def test_a_procedure_that_fails_is_its_own_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, file = tiny.place(tmp_path / "results"), own(tmp_path)
    suite = of_trainings(f"{file}:OWN", "saliency-guided")
    tiny.carried_out(suite, place)
    costs = invented([])

    def fails(model: object, data: object, config: object, trainings: Any) -> dict[str, Cost]:
        if any(one.name == "own" for one in trainings):
            raise SystemExit(3)
        return costs(model, data, config, trainings)

    monkeypatch.setattr(training_costs, "training_cost", fails)
    failures, told = measured(suite, place)
    assert len(failures) == len(told) == 1
    assert "the cost of tiny / bilstm-additive / own / seed 0" in failures[0]
    assert "SystemExit: 3" in failures[0]
    found = {record.training: record.training_cost for record in place.store.models()}
    assert found["own"] == {}
    assert found["saliency-guided"]["seconds"] == 6.0


def test_standard_training_alone_has_nothing_beside_it(tmp_path: Path) -> None:
    place = tiny.place(tmp_path / "results")
    failures, told = measured(of_trainings("standard"), place)
    assert failures == []
    assert "no cost to measure" in told[-1]
