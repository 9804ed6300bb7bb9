"""Values, intervals and ranks of complete rows."""

from __future__ import annotations

import random

import numpy as np
import pytest

from faithboard.stats.board import Board, Comparison
from tests.boards import Records, model, noisy, standing, two_seeds


def pair(board: Board, a: str, b: str) -> Comparison:
    return next(c for c in board.comparisons if (c.a, c.b) == (a, b))


def test_a_clear_order_gives_the_ranks_one_two_three() -> None:
    board = two_seeds(best=noisy(0.9), middle=noisy(0.5, salt=1), random=noisy(0.1, salt=2)).board()
    assert [(s.method, s.rank, s.rank_high, s.ranked) for s in board.standings] == [
        ("best", 1, 1, 3),
        ("middle", 2, 2, 3),
        ("random", 3, 3, 3),
    ]
    assert pair(board, "best", "random").better == "best"
    assert pair(board, "best", "random").wins > pair(board, "best", "random").losses


def test_lower_is_better_turns_the_order_round() -> None:
    made = Records([model(seed=0), model(seed=1)])
    made.add("low", {"sufficiency": noisy(0.1)})
    made.add("high", {"sufficiency": noisy(0.9, salt=1)})
    board = made.board()
    assert standing(board, "low", "sufficiency").rank == 1
    found = pair(board, "high", "low")
    assert (found.better, found.losses > found.wins, found.difference > 0) == ("low", True, True)


def test_methods_that_cannot_be_told_apart_share_a_rank_and_an_interval() -> None:
    board = two_seeds(a=noisy(0.9), b=noisy(0.9, salt=1), random=noisy(0.1, salt=2)).board()
    assert [(s.rank, s.rank_high) for s in board.standings] == [(1, 2), (1, 2), (3, 3)]


def test_the_value_is_the_mean_over_examples_of_the_mean_over_seeds() -> None:
    board = two_seeds(a=np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 4.0]]), random=np.zeros((2, 3))).board()
    found = standing(board, "a")
    assert found.value == pytest.approx((0.5 + 1.0 + 3.0) / 3)
    assert found.seed_means == {"0": 1.0, "1": 2.0}
    assert found.seed_spread == pytest.approx(np.std([1.0, 2.0], ddof=1), rel=1e-5)
    assert found.n == 3


def test_one_seed_has_no_spread() -> None:
    made = Records([model()], seeds=[0])
    made.add("random", {"comprehensiveness": noisy(0.1, seeds=1)})
    assert standing(made.board(), "random").seed_spread is None


def test_more_seeds_do_not_narrow_the_interval() -> None:
    column = noisy(0.5, seeds=1)
    one = two_seeds(random=np.repeat(column, 2, 0)).board()
    made = Records([model(seed=seed) for seed in range(8)], seeds=range(8))
    made.add("random", {"comprehensiveness": np.repeat(column, 8, 0)})
    assert (standing(made.board(), "random").low, standing(made.board(), "random").n) == (
        standing(one, "random").low,
        40,
    )


def test_a_difference_of_one_sign_overall_but_not_in_every_seed_is_no_difference() -> None:
    base = noisy(0.5, spread=0.01)
    other = base + np.array([[0.5], [-0.05]])
    board = two_seeds(other=other, random=base).board()
    found = pair(board, "other", "random")
    assert found.p_holm < 0.05
    assert (found.same_sign, found.better) == (False, "")
    assert [s.rank for s in board.standings] == [1, 1]


def test_holm_runs_over_all_pairs_of_the_table() -> None:
    board = two_seeds(a=noisy(0.6), b=noisy(0.5, salt=1), c=noisy(0.45, salt=2), random=noisy(0.4, salt=3)).board()
    assert len(board.comparisons) == 6
    smallest = min(board.comparisons, key=lambda c: c.p)
    assert smallest.p_holm == pytest.approx(6 * smallest.p, rel=1e-4)


def test_the_same_constant_for_all_methods_changes_no_rank() -> None:
    values = {"a": noisy(0.6), "b": noisy(0.5, salt=1), "random": noisy(0.4, salt=3)}
    shift = np.linspace(0, 3, 40)
    plain, moved = (
        two_seeds(**values).board(),
        two_seeds(**{k: v + shift for k, v in values.items()}).board(),
    )
    assert [(s.rank, s.rank_high) for s in plain.standings] == [(s.rank, s.rank_high) for s in moved.standings]
    assert [c.difference for c in plain.comparisons] == pytest.approx([c.difference for c in moved.comparisons])


def test_the_order_of_records_and_lines_changes_nothing() -> None:
    made = two_seeds(a=noisy(0.6), b=noisy(0.5, salt=1), random=noisy(0.4, salt=3))
    before = made.board()
    shuffle = random.Random(1).shuffle
    for part in (made.models, made.explanations, made.lines):
        shuffle(part)
    assert made.board() == before


def test_records_survive_json() -> None:
    board = two_seeds(a=noisy(0.9), random=noisy(0.1, salt=2)).board()
    for record in (*board.tables, *board.standings, *board.comparisons):
        assert type(record).from_json(record.to_json()) == record
