"""The table of plausibility: apart, with its length, ceiling and floor, and in no mean over tasks."""

from __future__ import annotations

from typing import Any

import pytest

from faithboard.report import render
from faithboard.stats.board import Board
from faithboard.stats.ranking import overall
from tests.boards import Records, model, noisy

SPLIT: dict[str, Any] = {
    "read": 9,
    "here": 9,
    "excluded_rule": 0,
    "excluded_short": 0,
    "excluded_long": 0,
    "used": 9,
    "truncated": 0,
}


def splits(share: float | None, agreement: float | None) -> dict[str, Any]:
    marked = {"rationale_share": share, "agreement": agreement}
    return {"splits": {"train": SPLIT, "dev": SPLIT | marked, "test": SPLIT | marked}}


def board(*tasks: str, share: float | None = 0.2134, agreement: float | None = 0.6321) -> Board:
    made = Records([model(task, seed, data=splits(share, agreement)) for task in tasks for seed in (0, 1)])
    row = {"kind": "rationale", "better": "higher"}
    for task in tasks:
        for method, mean in (("leave-one-out", 0.6), ("random", 0.2)):
            values = {name: noisy(mean, salt=at) for at, name in enumerate(("auprc", "iou-f1", "token-f1"))}
            made.add(method, values, of=task, row=row)
            made.add(f"{method}-b", {"comprehensiveness": noisy(mean)}, of=task)
    return made.board()


@pytest.fixture(scope="module")
def page() -> str:
    return render(board("toy"))["toy.md"].split("### Plausibility")[1]


def test_its_metrics_stand_in_a_table_of_their_own(page: str) -> None:
    header = next(line for line in page.splitlines() if line.startswith("| method"))
    assert header.index("auprc ↑") < header.index("token-f1 ↑") < header.index("iou-f1 ↑")
    assert "comprehensiveness" not in header
    before = render(board("toy"))["toy.md"].split("### Plausibility")[0]
    assert "auprc" not in before.split("### Faithfulness")[1]


def test_length_ceiling_and_floor_are_said(page: str) -> None:
    assert "Plausibility is not faithfulness" in page
    assert "Length of a predicted rationale (token-f1, iou-f1): the top 21.3% of the tokens" in page
    assert "Human ceiling: token F1 0.632, each annotator against the union of the others" in page
    floor = next(line for line in page.splitlines() if line.startswith("- Floor: `random`"))
    assert [words.split()[0] for words in floor.split("`, ")[1].split(", ")] == ["auprc", "token-f1", "iou-f1"]


def test_data_of_one_annotator_has_no_ceiling() -> None:
    shown = render(board("toy", agreement=None))["toy.md"]
    assert "Human ceiling" not in shown
    assert "Length of a predicted rationale" in shown
    assert "Length of a predicted rationale" not in render(board("toy", share=None))["toy.md"]


def test_it_counts_in_no_mean_over_tasks() -> None:
    assert {line.metric for line in overall(board("one", "two"))} == {"comprehensiveness"}
