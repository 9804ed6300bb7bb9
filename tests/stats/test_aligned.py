"""On which examples the methods of a table are compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.boards import noisy, standing, two_seeds


def test_an_undefined_example_takes_the_value_of_random() -> None:
    values = noisy(0.9)
    values[0, 0] = np.nan
    baseline = noisy(0.1, salt=1)
    found = standing(two_seeds(a=values, random=baseline).board(), "a")
    filled = values.copy()
    filled[0, 0] = baseline[0, 0]
    assert found.value == pytest.approx(filled.mean(), rel=1e-5)
    assert found.undefined_share == pytest.approx(1 / 80)
    assert (found.n, found.rank) == (40, 1)


def test_a_value_that_is_not_finite_is_undefined() -> None:
    values = noisy(0.9)
    values[0, 0] = np.inf
    found = standing(two_seeds(a=values, random=noisy(0.1, salt=1)).board(), "a")
    assert found.undefined_share == pytest.approx(1 / 80)
    assert found.rank == 1


def test_more_than_five_percent_undefined_is_not_ranked() -> None:
    values = noisy(0.9)
    values[:, :3] = np.nan
    board = two_seeds(a=values, b=noisy(0.8, salt=1), random=noisy(0.1, salt=2)).board()
    found = standing(board, "a")
    assert (found.rank, found.reason) == (None, "undefined for 7.5% of the examples, above 5%")
    assert standing(board, "b").ranked == 2
    assert {(c.a, c.b) for c in board.comparisons} == {("b", "random")}


def test_without_a_random_baseline_any_undefined_example_keeps_the_row_out() -> None:
    values = noisy(0.9)
    values[0, 0] = np.nan
    board = two_seeds(a=values, b=noisy(0.8, salt=1)).board()
    assert "no random baseline" in standing(board, "a").reason
    assert standing(board, "a").value == pytest.approx(np.nanmean(np.nanmean(values, 0)), rel=1e-5)
    assert standing(board, "b").rank == 1


def test_an_example_that_random_has_no_value_for_is_excluded_for_all() -> None:
    baseline = noisy(0.1, salt=1)
    baseline[0, 5] = np.nan
    board = two_seeds(a=noisy(0.9), random=baseline).board()
    assert [(s.n, s.excluded, s.undefined_share) for s in board.standings] == [(39, 1, 0.0)] * 2


def test_examples_that_some_seed_lacks_are_excluded_for_all_and_counted() -> None:
    def lacking(values: np.ndarray) -> Any:
        cells = values.astype(object)
        cells[1, 7] = None  # seed 1 predicts example 7 wrong, say
        return cells

    board = two_seeds(a=lacking(noisy(0.9)), random=lacking(noisy(0.1, salt=1))).board()
    assert [(s.n, s.excluded) for s in board.standings] == [(39, 1)] * 2


def test_a_method_that_lacks_examples_takes_none_from_the_others() -> None:
    short = noisy(0.9).astype(object)
    short[:, :10] = None
    board = two_seeds(a=noisy(0.8, salt=1), b=short, random=noisy(0.1, salt=2)).board()
    assert standing(board, "b").reason == "no value for 10 of 40 examples (seed 0)"
    assert (standing(board, "b").n, standing(board, "a").n, standing(board, "a").excluded) == (30, 40, 0)


def test_examples_of_a_row_that_is_not_ranked_anyway_do_not_count() -> None:
    made = two_seeds(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.add("stale", {"comprehensiveness": noisy(0.95, examples=50)}, weights_sha256="older")
    board = made.board()
    assert [(standing(board, m).rank, standing(board, m).n) for m in ("a", "random")] == [(1, 40), (2, 40)]


def test_a_row_without_values_is_not_ranked_and_changes_no_other() -> None:
    made = two_seeds(a=noisy(0.9), b=noisy(0.8, salt=1), random=noisy(0.1, salt=2))
    before = made.board()
    made.add("lost", {"comprehensiveness": np.empty((2, 0))})
    board = made.board()
    assert (standing(board, "lost").rank, standing(board, "lost").reason) == (None, "no example has a value (seed 0)")
    assert board.comparisons == before.comparisons
    made.lines = [line for line in made.lines if line["explain_key"] != "b-model-toy-1"]
    found = standing(made.board(), "b")
    assert (found.rank, found.reason) == (None, "no example has a value (seed 1)")
    assert found.seed_means.keys() == {"0"}
