"""Two methods against each other, on invented records."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from faithboard.report.duels import duels_text
from faithboard.stats.duel import Duel, Duels, duels
from tests.boards import Records, model, noisy

NAN = float("nan")


def by_example(made: Records) -> dict[tuple[str, str], pd.Series[float]]:
    groups = made.values.groupby(["explain_key", "metric"])
    return {(str(key), str(metric)): lines.set_index("example")["value"] for (key, metric), lines in groups}


def fought(made: Records, a: str = "a", b: str = "b") -> Duels:
    return duels("quick", 1, made.models, made.explanations, by_example(made), a, b)


def only(made: Records, a: str = "a", b: str = "b") -> Duel:
    (found,) = fought(made, a, b).fought
    return found


def two(a: np.ndarray, b: np.ndarray, metric: str = "comprehensiveness") -> Records:
    made = Records([model(seed=seed) for seed in range(len(a))])
    made.add("a", {metric: a})
    made.add("b", {metric: b})
    return made


def test_a_hand_solved_duel() -> None:
    first, second = np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([[0.0, 2.0, 5.0, 1.0]])
    found = only(two(first, second))
    own = found.comparison
    assert (own.n, own.wins, own.ties, own.losses) == (4, 2, 1, 1)
    assert own.difference == pytest.approx((1 + 0 - 2 + 3) / 4)
    assert (found.value_a, found.value_b) == (2.5, 2.0)
    d = np.array([1.0, 0.0, -2.0, 3.0])
    extreme = [abs(np.dot(signs, d)) >= abs(d.sum()) - 1e-9 for signs in product((1, -1), repeat=4)]
    assert own.p == pytest.approx(np.mean(extreme))
    assert own.p_holm == own.p
    assert own.better == ""
    assert (found.suite, found.seeds, found.direction, found.left_out) == ("quick-v1", [0], "higher", 0)


def test_where_low_is_better_the_lower_one_wins() -> None:
    found = only(two(noisy(0.1), noisy(0.9, salt=1), "sufficiency"))
    assert found.comparison.better == "a"
    assert found.comparison.difference < 0
    assert found.comparison.wins > found.comparison.losses
    assert found.direction == "lower"


def test_swapping_the_two_turns_every_number_round() -> None:
    made = two(noisy(0.5), noisy(0.6, salt=1))
    ab, ba = only(made).comparison, only(made, "b", "a").comparison
    assert ba.difference == -ab.difference
    assert (ba.low, ba.high) == pytest.approx((-ab.high, -ab.low))
    assert (ba.wins, ba.ties, ba.losses) == (ab.losses, ab.ties, ab.wins)
    assert (ba.p, ba.better) == (ab.p, ab.better)


def test_it_agrees_with_the_leaderboard_on_the_same_pair() -> None:
    made = two(noisy(0.5), noisy(0.6, salt=1))
    made.add("random", {"comprehensiveness": noisy(0.1, salt=2)})
    pair = next(c for c in made.board().comparisons if (c.a, c.b) == ("a", "b"))
    own = only(made).comparison
    assert (own.difference, own.p, own.wins, own.losses) == (pair.difference, pair.p, pair.wins, pair.losses)
    assert (own.low, own.high) == (pair.low, pair.high)


def test_a_difference_that_changes_its_sign_between_seeds_is_no_win() -> None:
    first = np.array([[3.0] * 20, [0.0] * 20])
    found = only(two(first, np.ones((2, 20))))
    assert found.comparison.p < 0.001
    assert (found.comparison.same_sign, found.comparison.better) == (False, "")
    assert "is 0 or of the other sign in a seed" in " ".join(duels_text([found]).split())


def test_only_seeds_of_both_count_and_the_others_are_said() -> None:
    made = Records([model(seed=0), model(seed=1)])
    made.add("a", {"comprehensiveness": noisy(0.9)})
    made.add("b", {"comprehensiveness": noisy(0.1, seeds=1)})
    made.explanations = [e for e in made.explanations if (e.method, e.seed) != ("b", 1)]
    found = fought(made)
    assert [duel.seeds for duel in found.fought] == [[0]]
    assert found.refused == ("toy, bilstm-additive, standard: a alone has results of seed 1",)


def test_different_weights_are_never_compared() -> None:
    made = Records([model()])
    made.add("a", {"comprehensiveness": noisy(0.9, seeds=1)})
    made.add("b", {"comprehensiveness": noisy(0.1, seeds=1)}, weights_sha256="other")
    found = fought(made)
    assert found.fought == ()
    assert "explained on different weights (seed 0)" in found.refused[0]


def test_a_failed_explanation_is_refused_with_its_reason() -> None:
    made = Records([model()])
    made.add("a", {"comprehensiveness": noisy(0.9, seeds=1)})
    made.add("b", {}, status="failed", reason="it raised")
    assert "b failed (seed 0): it raised" in fought(made).refused[0]


def test_undefined_examples_take_the_value_of_the_baseline_or_are_left_out() -> None:
    first = np.array([[1.0, NAN, 1.0, 1.0]])
    made = two(first, np.zeros((1, 4)))
    alone = only(made)
    assert (alone.comparison.n, alone.left_out, alone.value_a) == (3, 1, 1.0)
    assert "1 examples left out" in duels_text([alone])
    made.add("random", {"comprehensiveness": np.full((1, 4), 0.5)})
    filled = only(made)
    assert (filled.comparison.n, filled.left_out, filled.value_a) == (4, 0, 3.5 / 4)


def test_examples_that_one_lacks_are_left_out() -> None:
    made = two(np.array([[1.0, 2.0, 3.0]]), np.array([[0.0, 0.0, None]]))
    found = only(made)
    assert (found.comparison.n, found.value_a) == (2, 1.5)


def test_no_common_example_is_a_reason() -> None:
    made = two(np.array([[1.0, None]]), np.array([[None, 1.0]]))
    found = fought(made)
    assert found.fought == ()
    assert "comprehensiveness" in found.refused[0]


def test_a_model_below_the_gate_is_compared_with_a_reservation() -> None:
    made = Records([model(gate_passed=False)])
    made.add("a", {"comprehensiveness": noisy(0.9, seeds=1)})
    made.add("b", {"comprehensiveness": noisy(0.1, seeds=1)})
    found = only(made)
    assert found.comparison.better == "a"
    assert "accuracy gate" in found.reservation
    assert "not ranked on a leaderboard: the model fails the accuracy gate" in duels_text([found])


def test_tables_of_several_tasks_stand_below_each_other_in_eighty_columns() -> None:
    made = Records([model("toy"), model("other")])
    for task in ("toy", "other"):
        made.add("a", {"comprehensiveness": noisy(0.9, seeds=1), "sufficiency": noisy(0.5, seeds=1)}, of=task)
        made.add("b", {"comprehensiveness": noisy(0.1, seeds=1), "sufficiency": noisy(0.5, seeds=1)}, of=task)
    text = duels_text(fought(made).fought)
    assert text.index("other: bilstm-additive") < text.index("toy: bilstm-additive")
    assert "a is better in 2 of 4 comparisons, b in 0; in 2 they cannot be told apart" in " ".join(text.split())
    assert "comprehensiveness ↑" in text
    assert max(map(len, text.splitlines())) <= 80
