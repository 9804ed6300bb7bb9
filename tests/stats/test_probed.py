"""What the probes of a model are summed up to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from faithboard.stats import ProbeSummary
from tests.boards import Records, model, noisy

TAU = np.array([[0.5, 0.1, -0.3, np.nan], [0.7, 0.1, -0.1, 0.2]])
P = np.array([[0.01, 0.6, np.nan, np.nan], [0.04, 0.9, np.nan, 0.03]])
PREDICTED = np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0]])


def summaries(predicted: np.ndarray = PREDICTED) -> dict[int | None, ProbeSummary]:
    made = Records([model(seed=0), model(seed=1)])
    made.add("", {"tau-attention-loo": TAU, "p-attention-loo": P, "predicted-class": predicted})
    board = made.board()
    assert board.standings == []
    assert {one.probe for one in board.probes} == {"tau-attention-loo"}
    return {one.predicted: one for one in board.probes}


def test_all_examples_together_by_hand() -> None:
    found = summaries()[None]
    # Means over seeds: 0.6, 0.1, -0.2 and, with one seed undefined, 0.2.
    assert found.value == pytest.approx(0.175)
    assert found.n == 4
    assert found.example_spread == pytest.approx((np.std([0.5, 0.1, -0.3]) + np.std([0.7, 0.1, -0.1, 0.2])) / 2)
    assert found.seed_spread == pytest.approx(np.std([0.1, 0.225], ddof=1), rel=1e-5)
    assert found.undefined_share == pytest.approx(1 / 8)
    # Five of the seven defined values are tested; three of those reach 0.05.
    assert found.significant_share == pytest.approx(3 / 5)
    assert found.untestable_share == pytest.approx(2 / 7, rel=1e-5)
    assert found.low <= found.value <= found.high


def test_by_predicted_class_an_example_counts_where_its_seed_predicts_the_class() -> None:
    found = summaries()
    assert found[0].value == pytest.approx((0.6 + 0.1) / 2)
    assert found[1].value == pytest.approx((0.1 - 0.2 + 0.2) / 3, rel=1e-5)
    assert (found[0].n, found[1].n) == (2, 3)
    assert found[0].significant_share == pytest.approx(2 / 3, rel=1e-5)


def many(classes: int) -> set[int | None]:
    """Groups of a probe whose model predicts that many classes."""
    predicted = np.array([[float(at) for at in range(classes)]] * 2)
    made = Records([model(seed=0), model(seed=1)])
    made.add("", {"tau-attention-loo": noisy(0.3, examples=classes), "predicted-class": predicted})
    return {one.predicted for one in made.board().probes}


def test_up_to_ten_classes_are_broken_down_and_answers_chosen_among_many_are_not() -> None:
    assert many(10) == {None, *range(10)}
    assert many(11) == {None}
    assert many(1) == {None}


def test_seeds_that_do_not_count_are_left_out_and_the_others_named() -> None:
    made = Records([model(seed=seed) for seed in range(4)], seeds=range(4))
    made.add("", {"tau-attention-loo": np.array([[0.0], [0.2], [0.6], [0.9]])})
    made.explanations = [
        replace(one, rows=[replace(row, metric_version=1 if one.seed == 3 else 2) for row in one.rows])
        for one in made.explanations
    ]
    made.explanations[0] = replace(made.explanations[0], weights_sha256="older")
    (found,) = made.board().probes
    assert found.seeds == [1, 2]
    assert found.value == pytest.approx(0.4)
