"""From records to ranks: who is ranked, on which examples, and what every other row says."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from faithboard.stats.board import Board, Comparison, Standing
from tests.boards import Records, model, noisy


def records(**methods: np.ndarray) -> Records:
    """Records of methods (underscores for hyphens) with values of comprehensiveness on two seeds."""
    made = Records([model(seed=0), model(seed=1)])
    for name, values in methods.items():
        made.add(name.replace("_", "-"), {"comprehensiveness": values})
    return made


def of(board: Board, method: str, metric: str = "comprehensiveness") -> Standing:
    return next(s for s in board.standings if s.method == method and s.metric == metric)


def pair(board: Board, a: str, b: str) -> Comparison:
    return next(c for c in board.comparisons if (c.a, c.b) == (a, b))


def test_a_clear_order_gives_the_ranks_one_two_three() -> None:
    board = records(best=noisy(0.9), middle=noisy(0.5, salt=1), random=noisy(0.1, salt=2)).board()
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
    assert of(board, "low", "sufficiency").rank == 1
    found = pair(board, "high", "low")
    assert (found.better, found.losses > found.wins, found.difference > 0) == ("low", True, True)


def test_methods_that_cannot_be_told_apart_share_a_rank_and_an_interval() -> None:
    board = records(a=noisy(0.9), b=noisy(0.9, salt=1), random=noisy(0.1, salt=2)).board()
    assert [(s.rank, s.rank_high) for s in board.standings] == [(1, 2), (1, 2), (3, 3)]


def test_the_value_is_the_mean_over_examples_of_the_mean_over_seeds() -> None:
    board = records(a=np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 4.0]]), random=np.zeros((2, 3))).board()
    found = of(board, "a")
    assert found.value == pytest.approx((0.5 + 1.0 + 3.0) / 3)
    assert found.seed_means == {"0": 1.0, "1": 2.0}
    assert found.seed_spread == pytest.approx(np.std([1.0, 2.0], ddof=1), rel=1e-5)
    assert found.n == 3


def test_one_seed_has_no_spread() -> None:
    made = Records([model()], seeds=[0])
    made.add("random", {"comprehensiveness": noisy(0.1, seeds=1)})
    assert of(made.board(), "random").seed_spread is None


def test_more_seeds_do_not_narrow_the_interval() -> None:
    column = noisy(0.5, seeds=1)
    one = records(random=np.repeat(column, 2, 0)).board()
    made = Records([model(seed=seed) for seed in range(8)], seeds=range(8))
    made.add("random", {"comprehensiveness": np.repeat(column, 8, 0)})
    assert (of(made.board(), "random").low, of(made.board(), "random").n) == (of(one, "random").low, 40)


def test_a_difference_of_one_sign_overall_but_not_in_every_seed_is_no_difference() -> None:
    base = noisy(0.5, spread=0.01)
    other = base + np.array([[0.5], [-0.05]])
    board = records(other=other, random=base).board()
    found = pair(board, "other", "random")
    assert found.p_holm < 0.05
    assert (found.same_sign, found.better) == (False, "")
    assert [s.rank for s in board.standings] == [1, 1]


def test_holm_runs_over_all_pairs_of_the_table() -> None:
    board = records(a=noisy(0.6), b=noisy(0.5, salt=1), c=noisy(0.45, salt=2), random=noisy(0.4, salt=3)).board()
    assert len(board.comparisons) == 6
    smallest = min(board.comparisons, key=lambda c: c.p)
    assert smallest.p_holm == pytest.approx(6 * smallest.p, rel=1e-4)


def test_the_same_constant_for_all_methods_changes_no_rank() -> None:
    values = {"a": noisy(0.6), "b": noisy(0.5, salt=1), "random": noisy(0.4, salt=3)}
    shift = np.linspace(0, 3, 40)
    plain, moved = (
        records(**values).board(),
        records(**{k: v + shift for k, v in values.items()}).board(),
    )
    assert [(s.rank, s.rank_high) for s in plain.standings] == [(s.rank, s.rank_high) for s in moved.standings]
    assert [c.difference for c in plain.comparisons] == pytest.approx([c.difference for c in moved.comparisons])


def test_the_order_of_records_and_lines_changes_nothing() -> None:
    made = records(a=noisy(0.6), b=noisy(0.5, salt=1), random=noisy(0.4, salt=3))
    before = made.board()
    shuffle = random.Random(1).shuffle
    for part in (made.models, made.explanations, made.lines):
        shuffle(part)
    assert made.board() == before


def test_an_undefined_example_takes_the_value_of_random() -> None:
    values = noisy(0.9)
    values[0, 0] = np.nan
    baseline = noisy(0.1, salt=1)
    found = of(records(a=values, random=baseline).board(), "a")
    filled = values.copy()
    filled[0, 0] = baseline[0, 0]
    assert found.value == pytest.approx(filled.mean(), rel=1e-5)
    assert found.undefined_share == pytest.approx(1 / 80)
    assert (found.n, found.rank) == (40, 1)


def test_a_value_that_is_not_finite_is_undefined() -> None:
    values = noisy(0.9)
    values[0, 0] = np.inf
    found = of(records(a=values, random=noisy(0.1, salt=1)).board(), "a")
    assert found.undefined_share == pytest.approx(1 / 80)
    assert found.rank == 1


def test_more_than_five_percent_undefined_is_not_ranked() -> None:
    values = noisy(0.9)
    values[:, :3] = np.nan
    board = records(a=values, b=noisy(0.8, salt=1), random=noisy(0.1, salt=2)).board()
    found = of(board, "a")
    assert (found.rank, found.reason) == (None, "undefined for 7.5% of the examples, above 5%")
    assert of(board, "b").ranked == 2
    assert {(c.a, c.b) for c in board.comparisons} == {("b", "random")}


def test_without_a_random_baseline_any_undefined_example_keeps_the_row_out() -> None:
    values = noisy(0.9)
    values[0, 0] = np.nan
    board = records(a=values, b=noisy(0.8, salt=1)).board()
    assert "no random baseline" in of(board, "a").reason
    assert of(board, "a").value == pytest.approx(np.nanmean(np.nanmean(values, 0)), rel=1e-5)
    assert of(board, "b").rank == 1


def test_an_example_that_random_has_no_value_for_is_excluded_for_all() -> None:
    baseline = noisy(0.1, salt=1)
    baseline[0, 5] = np.nan
    board = records(a=noisy(0.9), random=baseline).board()
    assert [(s.n, s.excluded, s.undefined_share) for s in board.standings] == [(39, 1, 0.0)] * 2


def test_examples_that_some_seed_lacks_are_excluded_for_all_and_counted() -> None:
    def lacking(values: np.ndarray) -> Any:
        cells = values.astype(object)
        cells[1, 7] = None  # seed 1 predicts example 7 wrong, say
        return cells

    board = records(a=lacking(noisy(0.9)), random=lacking(noisy(0.1, salt=1))).board()
    assert [(s.n, s.excluded) for s in board.standings] == [(39, 1)] * 2


def test_a_method_that_lacks_examples_takes_none_from_the_others() -> None:
    short = noisy(0.9).astype(object)
    short[:, :10] = None
    board = records(a=noisy(0.8, salt=1), b=short, random=noisy(0.1, salt=2)).board()
    assert of(board, "b").reason == "no value for 10 of 40 examples (seed 0)"
    assert (of(board, "b").n, of(board, "a").n, of(board, "a").excluded) == (30, 40, 0)


def test_examples_of_a_row_that_is_not_ranked_anyway_do_not_count() -> None:
    made = records(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.add("stale", {"comprehensiveness": noisy(0.95, examples=50)}, weights_sha256="older")
    board = made.board()
    assert [(of(board, m).rank, of(board, m).n) for m in ("a", "random")] == [(1, 40), (2, 40)]


def test_a_row_without_values_is_not_ranked_and_changes_no_other() -> None:
    made = records(a=noisy(0.9), b=noisy(0.8, salt=1), random=noisy(0.1, salt=2))
    before = made.board()
    made.add("lost", {"comprehensiveness": np.empty((2, 0))})
    board = made.board()
    assert (of(board, "lost").rank, of(board, "lost").reason) == (None, "no example has a value (seed 0)")
    assert board.comparisons == before.comparisons
    made.lines = [line for line in made.lines if line["explain_key"] != "b-model-toy-1"]
    found = of(made.board(), "b")
    assert (found.rank, found.reason) == (None, "no example has a value (seed 1)")
    assert found.seed_means.keys() == {"0"}


def test_a_missing_seed_is_shown_and_not_ranked() -> None:
    board = records(a=noisy(0.9, seeds=1), b=noisy(0.8, salt=1), random=noisy(0.1, salt=2)).board()
    found = of(board, "a")
    assert (found.rank, found.reason) == (None, "no result for seed 1")
    assert found.value is not None
    assert found.seed_means.keys() == {"0"}


def test_a_failed_explanation_is_shown_with_its_reason() -> None:
    made = records(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.add("broken", {}, status="failed", reason="scores are not finite")
    found = of(made.board(), "broken")
    assert (found.status, found.value, found.rank) == ("failed", None, None)
    assert found.reason == "failed (seed 0): scores are not finite"


def test_a_row_can_fail_alone() -> None:
    made = records(random=noisy(0.1, salt=2))
    made.add("a", {"comprehensiveness": np.empty((2, 0))}, row={"status": "unsupported", "reason": "too long"})
    assert of(made.board(), "a").reason == "unsupported (seed 0): too long"


def test_other_weights_are_not_compared() -> None:
    made = records(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.add("stale", {"comprehensiveness": noisy(0.95, salt=3)}, weights_sha256="older")
    board = made.board()
    assert of(board, "stale").reason == "explained on other weights (seed 0)"
    assert [(c.a, c.b) for c in board.comparisons] == [("a", "random")]


def test_another_device_never_shares_a_rank() -> None:
    made = records(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.add("gpu", {"comprehensiveness": noisy(0.95, salt=3)}, provenance={"device": "NVIDIA H200"})
    assert of(made.board(), "gpu").reason == "explained on NVIDIA H200 (seed 0)"


def test_a_model_below_the_gate_is_shown_and_not_ranked() -> None:
    made = records(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.models[1] = model(seed=1, gate_passed=False, gate={"bound": 0.48, "threshold": 0.5})
    board = made.board()
    assert [(s.rank, s.reason) for s in board.standings] == [(None, "the model fails the accuracy gate (seed 1)")] * 2
    assert board.comparisons == []
    assert board.tables[0].gate == {"bound": 0.48, "threshold": 0.5}


def test_a_seed_without_a_model_keeps_the_whole_table_out() -> None:
    made = records(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.seeds = (0, 1, 2)
    assert of(made.board(), "a").reason == "no result for seed 2"
    assert made.board().tables[0].reason == "no trained model for seed 2"


def test_known_truth_ranks_only_on_a_verified_model() -> None:
    made = Records([model(seed=s, known_truth={"verified": float(s == 0)}) for s in (0, 1)])
    for name, mean in (("a", 0.9), ("random", 0.1)):
        made.add(name, {"precision@k": noisy(mean), "comprehensiveness": noisy(mean)})
    board = made.board()
    assert of(board, "a", "precision@k").reason == "the model is not verified to use the planted tokens"
    assert of(board, "a").rank == 1


def test_other_data_gets_a_table_of_its_own() -> None:
    made = records(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.models[1] = model(seed=1, fingerprint="feedfacefeedface", fingerprint_name="unverified")
    board = made.board()
    assert [table.fingerprint_name for table in board.tables] == ["generated", "unverified"]
    assert all(s.rank is None for s in board.standings)


def test_records_that_claim_one_place_are_refused() -> None:
    made = records(a=noisy(0.9), random=noisy(0.1, salt=2))
    made.add("a", {"comprehensiveness": noisy(0.9)})
    with pytest.raises(ValueError, match="two explanations by 'a'"):
        made.board()
    made.explanations.clear()
    made.models[1] = model(seed=1, config={"vectors": "random", "hidden": 16})
    with pytest.raises(ValueError, match="different settings"):
        made.board()


def test_an_explanation_without_its_model_is_refused() -> None:
    made = records(a=noisy(0.9))
    made.models.pop()
    with pytest.raises(ValueError, match="unknown models: model-toy-1"):
        made.board()


def test_records_survive_json() -> None:
    board = records(a=noisy(0.9), random=noisy(0.1, salt=2)).board()
    for record in (*board.tables, *board.standings, *board.comparisons):
        assert type(record).from_json(record.to_json()) == record
