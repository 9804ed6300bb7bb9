"""What keeps a row out of the ranking."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.boards import noisy, standing, two_seeds


def test_a_missing_seed_is_shown_and_not_ranked() -> None:
    board = two_seeds(a=noisy(0.9, seeds=1), b=noisy(0.8, salt=1), random=noisy(0.1, salt=2)).board()
    found = standing(board, "a")
    assert (found.rank, found.reason) == (None, "no result for seed 1")
    assert found.value is not None
    assert found.seed_means.keys() == {"0"}


def test_a_failed_explanation_is_shown_with_its_reason() -> None:
    made = two_seeds(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.add("broken", {}, status="failed", reason="scores are not finite")
    found = standing(made.board(), "broken")
    assert (found.status, found.value, found.rank) == ("failed", None, None)
    assert found.reason == "failed (seed 0): scores are not finite"


def test_a_row_can_fail_alone() -> None:
    made = two_seeds(random=noisy(0.1, salt=2))
    made.add("a", {"comprehensiveness": np.empty((2, 0))}, row={"status": "unsupported", "reason": "too long"})
    assert standing(made.board(), "a").reason == "unsupported (seed 0): too long"


def test_other_weights_are_not_compared() -> None:
    made = two_seeds(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.add("stale", {"comprehensiveness": noisy(0.95, salt=3)}, weights_sha256="older")
    board = made.board()
    assert standing(board, "stale").reason == "explained on other weights (seed 0)"
    assert [(c.a, c.b) for c in board.comparisons] == [("a", "random")]


def test_another_device_never_shares_a_rank() -> None:
    made = two_seeds(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.add("gpu", {"comprehensiveness": noisy(0.95, salt=3)}, provenance={"device": "NVIDIA H200"})
    assert standing(made.board(), "gpu").reason == "explained on NVIDIA H200 (seed 0)"


def test_a_row_scored_on_another_device_is_not_ranked() -> None:
    made = two_seeds(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.add("there", {"comprehensiveness": noisy(0.8, salt=1)}, row={"device": "cpu"})
    made.add("elsewhere", {"comprehensiveness": noisy(0.95, salt=3)}, row={"device": "NVIDIA H200"})
    board = made.board()
    assert standing(board, "elsewhere").reason == "scored on NVIDIA H200 (seed 0)"
    assert standing(board, "elsewhere").value is not None
    assert standing(board, "there").rank == 2


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        ({"metric_version": 1}, "scored by version 1 of comprehensiveness, not 2 (seed 0)"),
        ({"metric_version": 2, "parameters": {"q": [0]}}, 'scored with other parameters: {"q": [0]} (seed 0)'),
    ],
)
def test_a_row_of_another_version_or_other_parameters_is_not_mixed_in(own: dict[str, object], reason: str) -> None:
    new = {"metric_version": 2, "parameters": {"q": [1, 5]}, "points": ["1%"], "curve": [0.1]}
    made = two_seeds()
    made.add("a", {"comprehensiveness": noisy(0.9)}, row=new)
    made.add("random", {"comprehensiveness": noisy(0.1, salt=2)}, row=new)
    before = made.board()
    made.add("stale", {"comprehensiveness": noisy(0.95, salt=3)}, row={"curve": [0.1, 0.2]} | own)
    random.Random(3).shuffle(made.explanations)
    board = made.board()
    found = standing(board, "stale")
    assert (found.rank, found.reason, found.value, found.curve) == (None, reason, None, [])
    assert board.comparisons == before.comparisons
    assert {s.metric_version for s in board.standings} == {2}


def test_parameters_are_the_same_as_python_and_as_json() -> None:
    made = two_seeds()
    made.add("a", {"comprehensiveness": noisy(0.9)}, row={"parameters": {"q": [1, 5], "k": 3}})
    made.add("random", {"comprehensiveness": noisy(0.1, salt=2)}, row={"parameters": {"k": 3, "q": (1, 5)}})
    assert [s.rank for s in made.board().standings] == [1, 2]
