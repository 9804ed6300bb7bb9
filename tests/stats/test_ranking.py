"""Methods over tasks."""

from __future__ import annotations

import pytest

from faithboard.stats import Board, Overall, overall
from tests.boards import Records, model, noisy

MEANS = {"good": 0.9, "middle": 0.5, "random": 0.1}


def board(tasks: dict[str, dict[str, float]], families: dict[str, str] | None = None) -> Board:
    family_of = families or {}
    made = Records([model(task, seed, family=family_of.get(task, "")) for task in tasks for seed in (0, 1)])
    for task, methods in tasks.items():
        for salt, (method, mean) in enumerate(methods.items()):
            made.add(method, {"comprehensiveness": noisy(mean, salt=salt)}, of=task)
    return made.board()


def by_method(found: list[Overall]) -> dict[str, Overall]:
    return {line.method: line for line in found}


def test_one_family_is_not_summed_up() -> None:
    assert overall(board({"sst": MEANS})) == []
    assert overall(board({"a": MEANS, "b": MEANS}, {"a": "babi", "b": "babi"})) == []


def test_mean_rank_and_win_rate_by_hand() -> None:
    turned = {"good": 0.1, "middle": 0.9, "random": 0.5}
    found = by_method(overall(board({"a": MEANS, "b": turned})))
    # good: ranks 1 and 3, beats 2 of 2 and 0 of 2; middle: ranks 2 and 1; random: ranks 3 and 2.
    assert [found[m].mean_rank for m in MEANS] == [2.0, 1.5, 2.5]
    assert [found[m].win_rate for m in MEANS] == [0.5, 0.75, 0.25]
    assert (found["good"].rank_low, found["good"].rank_high) == (1.0, 3.0)


def test_methods_that_cannot_be_told_apart_share_the_win() -> None:
    same = {"good": 0.5, "random": 0.5}
    found = by_method(overall(board({"a": same, "b": same})))
    assert [line.win_rate for line in found.values()] == [0.5, 0.5]


def test_a_family_counts_once() -> None:
    turned = {"good": 0.1, "middle": 0.9, "random": 0.5}
    tasks = {"babi-1": MEANS, "babi-2": MEANS, "sst": turned}
    grouped = by_method(overall(board(tasks, {"babi-1": "babi", "babi-2": "babi"})))["good"]
    apart = by_method(overall(board(tasks)))["good"]
    assert (grouped.mean_rank, grouped.families) == (2.0, 2)
    assert apart.mean_rank == pytest.approx(5 / 3)


def test_a_method_without_a_rank_somewhere_stands_last_and_says_so() -> None:
    found = overall(board({"a": MEANS, "b": {name: mean for name, mean in MEANS.items() if name != "good"}}))
    assert [line.method for line in found] == ["middle", "random", "good"]
    assert [line.complete for line in found] == [True, True, False]
