"""The page about the models, one promise at a time."""

from __future__ import annotations

from typing import Any

from faithboard.report import models_page
from tests.boards import Records, model

COST = {
    **{"seconds": 31.2, "standard_seconds": 10.4, "memory_mb": 84.5, "standard_memory_mb": 42.25},
    **{"device": "cpu", "dtype": "float32", "torch": "2.13.0", "threads": 1},
}


def page(**changes: Any) -> str:
    """Of one model in two seeds."""
    return models_page(Records([model(seed=0, **changes), model(seed=1)]).board())


def cells(text: str, heading: str, start: str) -> list[str]:
    """The cells of the row below a heading whose first cell is `start`."""
    lines = text.split(f"## {heading}")[1].splitlines()
    (row,) = [line for line in lines if line.startswith(f"| {start} ")]
    return [cell.strip() for cell in row.split("|")[1:-1]]


def test_the_cost_of_a_training_stands_beside_that_of_standard_training() -> None:
    assert cells(page(training_cost=COST), "Cost of training", "toy")[3:] == [
        *("31.2", "10.4", "3.0", "84.5", "42.2", "2.0"),
        "cpu, float32, torch 2.13.0, 1 thread",
    ]
    assert "Cost of training" not in page()
