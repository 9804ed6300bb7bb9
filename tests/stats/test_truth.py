"""What known truth decides, and its agreement with a metric seed by seed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import somersd

from faithboard.stats import Board
from faithboard.stats.truth import seed_agreements, told_apart
from tests.boards import Records, model, noisy

MEANS = {"a": (0.1, 0.2), "b": (0.3, 0.6), "c": (0.5, 0.4), "d": (0.8, 0.9)}
"""Method -> comprehensiveness and precision@k."""


def planted(precision: dict[str, np.ndarray]) -> Board:
    made = Records([model(seed=seed, known_truth={"verified": 1.0}) for seed in (0, 1)])
    for method, values in precision.items():
        own = np.broadcast_to(MEANS[method][0], (2, 40))
        made.add(method, {"comprehensiveness": own, "precision@k": values}, kind="sensitivity")
    for name in ("aaa", "random"):  # before and after the others in the order of names
        made.add(name, {"comprehensiveness": noisy(0.0), "precision@k": noisy(0.0)}, kind="reference")
    return made.board()


def test_only_pairs_of_explanation_methods_that_truth_tells_apart_are_counted() -> None:
    level = noisy(0.5, spread=0.01)
    board = planted({"a": level, "b": level, "c": level + 0.4})
    assert told_apart(board, board.tables[0]) == (2, 3)
    assert told_apart(planted(dict.fromkeys("abc", level)), board.tables[0]) == (0, 3)


def test_each_seed_has_its_own_agreement_over_the_explanation_methods() -> None:
    turned = {name: np.array([[second] * 40, [1 - second] * 40]) for name, (_, second) in MEANS.items()}
    first, second = np.transpose(list(MEANS.values()))
    expected = somersd(second, first).statistic
    board = planted(turned)
    assert seed_agreements(board, board.tables[0], "comprehensiveness") == pytest.approx([expected, -expected])


def test_what_truth_ties_a_metric_may_order_as_it_likes() -> None:
    tied = {name: np.full((2, 40), 0.9 if name in "bcd" else 0.2) for name in MEANS}
    board = planted(tied)
    assert seed_agreements(board, board.tables[0], "comprehensiveness") == [1.0, 1.0]


def test_a_metric_that_is_better_low_is_turned() -> None:
    made = Records([model(seed=seed, known_truth={"verified": 1.0}) for seed in (0, 1)])
    for method, (low, high) in {"a": (0.9, 0.1), "b": (0.5, 0.5), "c": (0.1, 0.9)}.items():
        made.add(method, {"sufficiency": noisy(low), "precision@k": noisy(high)}, kind="sensitivity")
    board = made.board()
    assert seed_agreements(board, board.tables[0], "sufficiency") == pytest.approx([1.0, 1.0])


def test_of_fewer_than_two_methods_there_is_none() -> None:
    board = planted({"a": noisy(0.5)})
    assert np.isnan(seed_agreements(board, board.tables[0], "comprehensiveness")).all()


def test_a_seed_in_which_truth_ties_all_methods_has_none() -> None:
    board = planted({name: np.array([[1.0] * 40, [second] * 40]) for name, (_, second) in MEANS.items()})
    first, second = seed_agreements(board, board.tables[0], "comprehensiveness")
    assert math.isnan(first)
    assert not math.isnan(second)
