"""What methods cost: steps, and speed in one setting."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from faithboard.records import Throughput
from faithboard.stats import Board, Cost
from faithboard.stats.costs import described
from tests.boards import Records, model, noisy, two_seeds

SPEED = Throughput("a-model-toy-0", "a", "cpu", "float32", "2.13", 2, 64, 32, 3, 0.5, 0.1, 128.0, 2000.0, None)
TIMING = {"device": "cpu", "dtype": "float32", "torch": "2.13", "threads": 2}


def timed(*speeds: Throughput) -> Board:
    made = two_seeds(a=noisy(0.5), b=noisy(0.4, salt=1))
    made.throughput += speeds
    return made.board()


def speed(method: str = "a", seed: int = 0, **others: Any) -> Throughput:
    return replace(SPEED, explain_key=f"{method}-model-toy-{seed}", method=method, **others)


def cost(board: Board, method: str = "a") -> Cost:
    (found,) = (one for one in board.costs if one.method == method)
    return found


def test_speeds_are_medians_over_seeds_and_the_rest_is_the_worst() -> None:
    made = Records([model(seed=seed) for seed in range(3)], seeds=range(3))
    made.add("a", {"comprehensiveness": noisy(0.5, seeds=3)})
    for seed, (rate, spread, memory, batch, joules) in enumerate(
        [(1.0, 0.1, 5.0, 32, 64.0), (9.0, 0.05, 7.0, 16, 640.0), (2.0, 0.0, 6.0, 32, 128.0)]
    ):
        made.throughput.append(
            speed(
                seed=seed,
                examples_per_second=rate,
                tokens_per_second=20 * rate,
                seconds_spread=spread,
                peak_memory_mb=memory,
                batch_size=batch,
                energy_joules=joules,
            )
        )
    found = cost(made.board())
    assert (found.examples_per_second, found.tokens_per_second) == (2.0, 40.0)
    assert found.spread == pytest.approx(0.1 / 0.5)
    assert (found.peak_memory_mb, found.batch_size, found.joules_per_example) == (7.0, 16, 2.0)
    assert found.reason == ""


def test_what_was_not_measured_is_not_there() -> None:
    found = cost(timed(speed(seconds_spread=None)))
    assert (found.spread, found.peak_memory_mb, found.joules_per_example) == (None, None, None)
    assert found.batch_size == 32


def test_the_setting_that_most_methods_were_timed_in_counts_and_no_other_is_mixed_in() -> None:
    gpu = speed("a", device="NVIDIA H200", examples_per_second=5000.0)
    board = timed(gpu, speed("a", 1, device="NVIDIA H200"), speed("a"), speed("b"))
    assert board.tables[0].timing == TIMING
    assert cost(board).examples_per_second == 128.0
    board = timed(speed("a"), speed("b", device="NVIDIA H200"), speed("a", 1, device="NVIDIA H200"))
    assert board.tables[0].timing["device"] == "NVIDIA H200"


@pytest.mark.parametrize("other", [{"threads": 1}, {"torch": "2.12"}, {"dtype": "float64"}, {"device": "A"}])
def test_a_method_timed_elsewhere_has_no_speed_and_says_where(other: dict[str, Any]) -> None:
    board = timed(speed("a"), speed("a", 1), speed("b", **other))
    assert board.tables[0].timing == TIMING  # as many methods each, and most records
    found = cost(board, "b")
    assert (found.examples_per_second, found.batch_size, found.forward_steps) == (None, None, 12.0)
    assert found.reason == f"timed in another setting: {described(TIMING | other)}"


def test_among_settings_of_as_many_methods_the_device_of_the_explanations_goes_first() -> None:
    there = [speed("a", seed, device="A") for seed in (0, 1)]
    assert timed(*there, speed("b")).tables[0].timing == TIMING


def test_a_setting_in_words() -> None:
    assert described(TIMING) == "cpu, float32, torch 2.13, 2 threads"
    assert described(TIMING | {"threads": 1}).endswith(", 1 thread")


def test_a_method_that_was_not_timed_says_so() -> None:
    assert cost(timed(speed("a")), "b").reason == "not timed"
    board = timed()
    assert board.tables[0].timing == {}
    assert [one.reason for one in board.costs] == ["not timed", "not timed"]


def test_steps_are_the_mean_over_seeds_and_none_where_not_counted() -> None:
    made = two_seeds(a=noisy(0.5))
    made.explanations = [replace(e, forward_steps=10.0 + 4 * e.seed, backward_steps=None) for e in made.explanations]
    found = cost(made.board())
    assert (found.forward_steps, found.backward_steps) == (12.0, None)


def test_probes_cost_nothing_here() -> None:
    made = two_seeds(a=noisy(0.5))
    made.add("", {"tau-attention-loo": noisy(0.3)})
    assert [one.method for one in made.board().costs] == ["a"]
