"""Methods with methods, metrics with metrics, operators and known truth, on invented scores and values."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, somersd

from faithboard.records import Row
from faithboard.stats import Board
from faithboard.stats.agreed import MethodAgreement, MetricAgreement
from faithboard.stats.agreement import base_and_operator
from tests.boards import Records, model, noisy

UP = {"e0": [[1.0, 2, 3]], "e1": [[4.0, -1, 2, 0]]}
DOWN = {"e0": [[3.0, 2, 1]], "e1": [[0.1, 1, 0.5, 4]]}
FLAT = {"e0": [[1.0, 1, 1]], "e1": [[4.0, -1, 2, 0]]}


def scored(**methods: Any) -> Board:
    made = Records([model(seed=0), model(seed=1)])
    for name, scores in methods.items():
        made.add(name, {"comprehensiveness": noisy(0.5)})
        made.score(name, *(scores if isinstance(scores, list) else [scores, scores]))
    return made.board()


def methods_of(board: Board, a: str, b: str) -> MethodAgreement:
    (found,) = (one for one in board.method_agreement if (one.a, one.b) == (a, b))
    return found


def test_equal_methods_agree_fully_and_reversed_ones_not_at_all() -> None:
    board = scored(a=UP, b=UP, c=DOWN)
    assert (methods_of(board, "a", "b").tau, methods_of(board, "a", "c").tau) == (1.0, -1.0)
    assert (methods_of(board, "a", "c").low, methods_of(board, "a", "c").high, methods_of(board, "a", "c").n) == (
        -1.0,
        -1.0,
        2,
    )


def test_it_is_the_mean_over_examples_of_the_mean_over_seeds() -> None:
    found = methods_of(scored(a=[UP, DOWN], b=UP, c={**UP, "e1": DOWN["e1"]}), "a", "b")
    assert found.tau == 0.0
    assert methods_of(scored(a=UP, b={**UP, "e1": DOWN["e1"]}), "a", "b").tau == 0.0


def test_constant_scores_are_counted_as_undefined() -> None:
    found = methods_of(scored(a=UP, b=[FLAT, UP]), "a", "b")
    assert (found.tau, found.n, found.undefined_share) == (1.0, 2, 0.25)
    nothing = methods_of(scored(a=UP, b={"e0": [[1.0] * 3], "e1": [[0.0] * 4]}), "a", "b")
    assert (nothing.tau, nothing.n, nothing.undefined_share) == (None, 0, 1.0)
    json.dumps(nothing.to_json(), allow_nan=False)


def test_a_text_of_one_word_takes_no_part() -> None:
    one = {"e2": [[1.0]]}
    found = methods_of(scored(a={**UP, **one}, b={**UP, **one}), "a", "b")
    assert (found.n, found.undefined_share) == (2, 0.0)


def test_a_failed_seed_leaves_the_others() -> None:
    made = Records([model(seed=0), model(seed=1)])
    for name, scores in (("a", UP), ("b", DOWN)):
        made.add(name, {"comprehensiveness": noisy(0.5)})
        made.score(name, scores, scores)
    made.explanations[1] = replace(made.explanations[1], status="failed", reason="a test")
    found = methods_of(made.board(), "a", "b")
    assert (found.tau, found.n, found.undefined_share) == (-1.0, 2, 0.0)
    # Nor are scores of other weights compared.
    made.explanations[0] = replace(made.explanations[0], weights_sha256="others")
    assert made.board().method_agreement == []


def test_without_scores_methods_are_not_compared() -> None:
    made = Records([model(seed=0), model(seed=1)])
    made.add("a", {"comprehensiveness": noisy(0.5)})
    made.add("b", {"comprehensiveness": noisy(0.5)})
    assert made.board().method_agreement == []


# -- metrics


def ranked(values: dict[str, dict[str, np.ndarray]], **of_model: Any) -> Records:
    made = Records([model(seed=seed, **of_model) for seed in (0, 1)])
    for method, metrics in values.items():
        made.add(method, metrics, kind="sensitivity")
    return made


def metrics_of(board: Board, a: str, b: str) -> MetricAgreement:
    (found,) = (one for one in board.metric_agreement if (one.a, one.b) == (a, b))
    return found


MEANS = {"a": (0.1, 0.9), "b": (0.3, 0.5), "c": (0.5, 0.7), "d": (0.8, 0.1)}


def two(**means: tuple[float, float]) -> dict[str, dict[str, np.ndarray]]:
    """Methods with values around two means, higher and lower being better."""
    return {
        method: {
            "comprehensiveness": noisy(first, spread=0.01, salt=2 * at),
            "sufficiency": noisy(second, spread=0.01, salt=2 * at + 1),
        }
        for at, (method, (first, second)) in enumerate((means or MEANS).items())
    }


def test_rankings_are_compared_in_their_better_directions() -> None:
    found = metrics_of(ranked(two()).board(), "comprehensiveness", "sufficiency")
    first, second = np.transpose(list(MEANS.values()))
    assert found.tau == pytest.approx(kendalltau(first, -second).statistic, rel=1e-5)
    assert (found.low, found.high, found.methods) == (found.tau, found.tau, 4)
    # b and c stand the other way round; both metrics tell every pair apart.
    assert (found.decided, found.reversed, found.relation) == (6, 1, "metric")


def test_one_ranking_is_one_and_the_opposite_minus_one() -> None:
    same = {name: (mean, 1 - mean) for name, mean in (("a", 0.1), ("b", 0.5), ("c", 0.9))}
    assert metrics_of(ranked(two(**same)).board(), "comprehensiveness", "sufficiency").tau == 1.0
    opposite = {name: (mean, mean) for name, mean in (("a", 0.1), ("b", 0.5), ("c", 0.9))}
    found = metrics_of(ranked(two(**opposite)).board(), "comprehensiveness", "sufficiency")
    assert (found.tau, found.reversed) == (-1.0, 3)


def test_reference_rows_and_unranked_methods_are_left_out() -> None:
    made = ranked(two())
    made.add("random", {"comprehensiveness": noisy(0.9), "sufficiency": noisy(0.9)})
    made.add("z", {"comprehensiveness": noisy(0.9, seeds=1), "sufficiency": noisy(0.9)}, kind="sensitivity")
    assert metrics_of(made.board(), "comprehensiveness", "sufficiency").methods == 4


def test_fewer_than_three_methods_have_no_ranking() -> None:
    made = ranked(two(a=(0.1, 0.9), b=(0.5, 0.5)))
    found = metrics_of(made.board(), "comprehensiveness", "sufficiency")
    assert (found.tau, found.low, found.reason) == (None, None, "fewer than 3 methods are ranked by both")


def test_methods_that_are_all_tied_are_undefined() -> None:
    made = ranked({name: {"comprehensiveness": noisy(0.5), "sufficiency": noisy(m)} for name, (m, _) in MEANS.items()})
    found = metrics_of(made.board(), "comprehensiveness", "sufficiency")
    assert (found.tau, found.reason) == (None, "all methods are tied in one of them")


def test_a_failed_gate_leaves_nothing_to_compare() -> None:
    board = ranked(two(), gate_passed=False).board()
    assert [one.tau for one in board.metric_agreement] == []


@pytest.mark.parametrize("verified", [1.0, 0.0])
def test_known_truth_counts_where_the_model_uses_it(verified: float) -> None:
    made = ranked(
        {
            name: {"comprehensiveness": noisy(m, spread=0.3, salt=at), "precision@k": noisy(m, spread=0.3, salt=9 + at)}
            for at, (name, (m, _)) in enumerate(MEANS.items())
        },
        known_truth={"verified": verified},
    )
    board = made.board()
    if not verified:
        assert board.metric_agreement == []
        return
    found = metrics_of(board, "comprehensiveness", "precision@k")
    assert found.relation == "truth"
    assert found.tau is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.tau <= found.high


def test_what_truth_ties_does_not_count_against_a_metric() -> None:
    """Truth ties three of four methods: the finer metric has a tau-b below 1 and, as scipy has it, a Somers' D of 1."""
    perfect, worst = np.full((2, 40), 1.0), np.full((2, 40), 0.25)
    means = {"a": (0.1, worst), "b": (0.3, perfect), "c": (0.5, perfect), "d": (0.8, perfect)}
    values = {
        name: {"comprehensiveness": noisy(mean, spread=0.01, salt=at), "precision@k": known}
        for at, (name, (mean, known)) in enumerate(means.items())
    }
    found = metrics_of(ranked(values, known_truth={"verified": 1.0}).board(), "comprehensiveness", "precision@k")
    assert found.tau == pytest.approx(kendalltau([1, 3, 5, 8], [0, 1, 1, 1]).statistic, rel=1e-5)
    assert (found.somers_d, found.somers_low, found.somers_high) == (1.0, 1.0, 1.0)
    values["a"]["comprehensiveness"] = noisy(0.4, spread=0.01)
    found = metrics_of(ranked(values, known_truth={"verified": 1.0}).board(), "comprehensiveness", "precision@k")
    assert found.somers_d == pytest.approx(somersd([0, 1, 1, 1], [4, 3, 5, 8]).statistic, rel=1e-5)
    assert found.somers_d == pytest.approx(1 / 3, rel=1e-5)


def test_only_known_truth_has_a_somers_d() -> None:
    assert metrics_of(ranked(two()).board(), "comprehensiveness", "sufficiency").somers_d is None


def test_a_median_ranks_nothing_and_is_not_compared() -> None:
    made = ranked({name: {"comprehensiveness": noisy(m, salt=at)} for at, (name, (m, _)) in enumerate(MEANS.items())})
    for at, name in enumerate(MEANS):
        median = {"kind": "amounts", "statistic": "median", "better": "lower"}
        made.add(f"{name}-other", {"completeness": noisy(0.5, salt=at)}, row=median, kind="sensitivity")
    assert made.board().metric_agreement == []


def test_the_interval_is_a_bootstrap_over_examples_shared_by_both() -> None:
    # Two metrics that are one: whatever is drawn, their rankings are one too.
    noise = {name: noisy(0.5, spread=0.5, salt=at) for at, name in enumerate("abcd")}
    twice = ranked({name: {"comprehensiveness": one, "sufficiency": -one} for name, one in noise.items()})
    found = metrics_of(twice.board(), "comprehensiveness", "sufficiency")
    assert (found.tau, found.low, found.high) == (1.0, 1.0, 1.0)


def test_intervals_contain_the_truth_about_as_often_as_they_say() -> None:
    """Of ten draws of examples from one population nearly all intervals contain the tau of the population."""
    hits = 0
    means = np.array([[0.1, 0.1], [0.2, 0.3], [0.3, 0.2], [0.4, 0.4]])
    truth = kendalltau(*means.T).statistic
    for draw in range(10):
        made = ranked(
            {
                f"m{at}": {
                    "comprehensiveness": noisy(own[0], spread=0.2, salt=100 * draw + 2 * at),
                    "sufficiency": -noisy(own[1], spread=0.2, salt=100 * draw + 2 * at + 1),
                }
                for at, own in enumerate(means)
            }
        )
        found = metrics_of(made.board(), "comprehensiveness", "sufficiency")
        assert found.low is not None
        assert found.high is not None
        hits += found.low - 1e-5 <= truth <= found.high + 1e-5  # lines hold six digits
    assert hits >= 9


def test_operators_of_one_metric_are_told_from_other_metrics() -> None:
    def row(metric: str, operator: str | None) -> Row:
        return Row("", metric, 1, {"operator": operator} if operator else {}, "higher")

    assert base_and_operator(row("comprehensiveness-unk", "unk")) == ("comprehensiveness", "unk")
    assert base_and_operator(row("comprehensiveness", "delete")) == ("comprehensiveness", "delete")
    assert base_and_operator(row("decision-flip-share", None)) == ("decision-flip-share", "delete")
    made = ranked({name: {"comprehensiveness": noisy(m, salt=at)} for at, (name, (m, _)) in enumerate(MEANS.items())})
    for at, explanation in enumerate(made.explanations):
        (own,) = explanation.rows
        other = replace(own, key=f"{own.key}-unk", metric="comprehensiveness-unk", parameters={"operator": "unk"})
        made.explanations[at] = replace(explanation, rows=[own, other])
    made.lines += [{**line, "metric": "comprehensiveness-unk"} for line in made.lines]
    found = metrics_of(made.board(), "comprehensiveness", "comprehensiveness-unk")
    assert (found.relation, found.tau, found.reversed) == ("operator", 1.0, 0)
