"""When a difference counts as shown, at its boundaries."""

from __future__ import annotations

import pytest

from faithboard.reproduction.saliency_guided.comparing import (
    accuracy_verdict,
    baseline_verdict,
    direction,
    verdict,
)


@pytest.mark.parametrize(
    ("low", "high", "n", "expected"),
    [
        (0.01, 0.2, 10, 1),
        (-0.2, -0.01, 10, -1),
        (0.0, 0.2, 10, 0),
        (-0.2, 0.0, 10, 0),
        (-0.1, 0.1, 10, 0),
        (0.1, 0.1, 1, 0),
    ],
    ids=["above", "below", "touches from above", "touches from below", "holds 0", "one text"],
)
def test_an_interval_must_lie_away_from_0(low: float, high: float, n: int, expected: int) -> None:
    assert direction(low, high, n) == expected


@pytest.mark.parametrize(
    ("sign", "published", "expected"),
    [
        (1, 0.04, "same direction"),
        (-1, 0.04, "opposite direction"),
        (-1, -0.04, "same direction"),
        (0, 0.04, "no difference shown"),
        (1, 0.0, "a difference where none is published"),
        (1, None, "higher"),
        (-1, None, "lower"),
    ],
)
def test_a_difference_is_held_against_the_published_one(sign: int, published: float | None, expected: str) -> None:
    assert verdict(sign, published) == expected


def test_better_than_random_is_higher_comprehensiveness_and_lower_sufficiency() -> None:
    assert baseline_verdict(1, "comprehensiveness") == baseline_verdict(-1, "sufficiency") == "better than random"
    assert baseline_verdict(-1, "comprehensiveness") == baseline_verdict(1, "sufficiency") == "worse than random"
    assert baseline_verdict(0, "sufficiency") == "no difference shown"


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.01, 0.02, "kept within 1 point"),
        (-0.011, -0.001, "lost"),
        (-0.02, 0.01, "not decided"),
        (-0.02, 0.0, "not decided"),
        (-0.005, -0.001, "kept within 1 point"),
    ],
)
def test_accuracy_is_kept_when_a_loss_of_over_a_point_is_excluded(low: float, high: float, expected: str) -> None:
    assert accuracy_verdict(low, high, in_every_seed=True) == expected


def test_accuracy_is_lost_only_when_every_seed_loses() -> None:
    assert accuracy_verdict(-0.03, -0.02, in_every_seed=True) == "lost"
    assert accuracy_verdict(-0.03, -0.02, in_every_seed=False) == "not decided"
