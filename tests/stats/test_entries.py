"""What keeps a row out of the ranking."""

from __future__ import annotations

import numpy as np

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
