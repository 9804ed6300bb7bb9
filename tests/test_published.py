"""The published numbers as data: complete, and named as the engine names tasks, models and measures."""

from __future__ import annotations

from faithboard.models import names
from faithboard.published import datasets, performance
from faithboard.resolve import builtin

MEASURES = {"accuracy", "f1-weighted", "f1-positive", "roc-auc", "average-precision"}


def test_every_performance_belongs_to_a_task_model_and_measure_of_the_engine() -> None:
    found = performance()
    assert len(found) == 240
    for task, model, measure in found:
        assert task in builtin("task")
        assert model in names()
        assert measure in MEASURES
    assert all(0 <= value <= 1 for value in found.values())


def test_table_1_and_the_result_files_agree_to_two_digits() -> None:
    # The paper calls it F1; for SST the result files show that it is the weighted one.
    assert round(performance()["sst", "bilstm-additive", "f1-weighted"], 2) == datasets()["sst"].performance
