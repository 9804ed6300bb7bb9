"""The arithmetic of section 6 against hand-solved cases, scipy's own test and known distributions."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import stats as scipy_stats

from faithboard.stats import resampling


def values_of(count: int, methods: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, methods))


def test_the_exact_sign_flip_test_equals_scipys() -> None:
    values = values_of(9, 3)
    pairs = [(0, 1), (0, 2), (1, 2)]
    for (a, b), p in zip(pairs, resampling.sign_flip_p(values, pairs), strict=True):
        oracle = scipy_stats.permutation_test(
            (values[:, a], values[:, b]),
            lambda x, y: np.mean(x - y),
            permutation_type="samples",
            n_resamples=np.inf,
            alternative="two-sided",
        )
        assert p == pytest.approx(oracle.pvalue, abs=1e-12)


def test_three_wins_of_three_have_p_one_quarter() -> None:
    # Of the 8 sign patterns of (1, 2, 3) only +++ and --- reach |6|.
    assert resampling.sign_flip_p(np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]), [(0, 1)]) == pytest.approx([0.25])


def test_the_sampled_test_is_close_to_the_exact_one() -> None:
    values = values_of(14, 4, seed=3)
    pairs = [(0, 1), (2, 3), (1, 3)]
    exact = resampling.sign_flip_p(values, pairs)
    sampled = resampling.sign_flip_p(values, pairs, flips=10_000)
    assert sampled == pytest.approx(exact, abs=4 * 0.5 / np.sqrt(10_000))


def test_the_sampled_p_is_never_zero() -> None:
    values = np.stack([np.arange(1, 201.0), np.zeros(200)], 1)
    assert resampling.sign_flip_p(values, [(0, 1)], flips=999) == pytest.approx([1 / 1000])


@pytest.mark.parametrize("count", [5, 400])
def test_equal_methods_have_p_one(count: int) -> None:
    column = values_of(count, 1)
    assert resampling.sign_flip_p(np.hstack([column, column, column + 0.0]), [(0, 1), (1, 2)]).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("hole", [np.nan, np.inf])
def test_a_value_that_is_not_finite_is_refused(hole: float) -> None:
    values = values_of(10, 3)
    values[4, 2] = hole
    with pytest.raises(ValueError, match="finite"):
        resampling.sign_flip_p(values, [(0, 1)])


@pytest.mark.parametrize("count", [12, 60])
def test_ties_of_the_statistic_count_although_float_sums_differ(count: int) -> None:
    # Sums of whole numbers are exact; sums of their tenths are not, and must give the same p all the same.
    whole = np.random.default_rng(4).integers(0, 4, size=(count, 6)).astype(float)
    pairs = [(a, b) for a in range(6) for b in range(a)]
    assert resampling.sign_flip_p(whole / 10, pairs).tolist() == resampling.sign_flip_p(whole, pairs).tolist()


def test_a_constant_added_to_all_methods_of_an_example_changes_no_p() -> None:
    values = values_of(200, 3, seed=5)
    shifted = values + 1e6 * np.arange(200)[:, None]
    pairs = [(0, 1), (1, 2)]
    assert resampling.sign_flip_p(shifted, pairs, flips=2000) == pytest.approx(
        resampling.sign_flip_p(values, pairs, flips=2000), abs=2e-3
    )


def test_the_order_of_methods_changes_no_p() -> None:
    values = values_of(120, 3, seed=6)
    forward = resampling.sign_flip_p(values, [(0, 2)], flips=5000)
    assert resampling.sign_flip_p(values[:, ::-1].copy(), [(0, 2)], flips=5000) == pytest.approx(forward, abs=1e-12)


def test_p_is_uniform_when_nothing_differs() -> None:
    generator = np.random.default_rng(1)
    p = [resampling.sign_flip_p(generator.normal(size=(40, 2)), [(0, 1)], flips=500)[0] for _ in range(300)]
    assert scipy_stats.kstest(p, "uniform").pvalue > 0.01
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.04)


def test_holm_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.03, 0.04 by 4, 3, 2, 1: 0.04, 0.06, 0.06, 0.06 after the running maximum.
    assert resampling.holm(np.array([0.03, 0.01, 0.04, 0.02])) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert resampling.holm(np.array([0.5, 0.9])) == pytest.approx([1.0, 1.0])
    assert resampling.holm(np.empty(0)).size == 0


def test_ranks_by_hand() -> None:
    # 0 beats 2 and 3, 1 beats 3; 0 and 1, 1 and 2, 2 and 3 are not told apart.
    better = np.zeros((4, 4), dtype=bool)
    better[0, 2] = better[0, 3] = better[1, 3] = True
    best, worst = resampling.ranks(better)
    assert best.tolist() == [1, 1, 2, 3]
    assert worst.tolist() == [2, 3, 4, 4]


def test_the_bootstrap_interval_covers_the_mean_as_often_as_it_says() -> None:
    generator = np.random.default_rng(2)
    # 400 samples of 60 exponential values side by side, each with true mean 1.
    values = generator.exponential(size=(60, 400))
    low, high = resampling.interval(resampling.bootstrap_means(values, resamples=1000))
    assert np.mean((low <= 1) & (high >= 1)) == pytest.approx(0.94, abs=0.03)


def test_the_bootstrap_uses_the_same_resamples_for_every_method() -> None:
    column = values_of(50, 1)
    means = resampling.bootstrap_means(np.hstack([column, column + 2, -column]), resamples=500)
    assert means[:, 1] == pytest.approx(means[:, 0] + 2)
    assert means[:, 2] == pytest.approx(-means[:, 0])


def test_the_bootstrap_spread_is_the_standard_error() -> None:
    values = values_of(300, 1)
    spread = resampling.bootstrap_means(values).std()
    assert spread == pytest.approx(values.std() / np.sqrt(300), rel=0.03)


def test_missing_values_leave_only_their_own_column() -> None:
    values = values_of(30, 2)
    with_gaps = values.copy()
    with_gaps[:10, 1] = np.nan
    means, whole = (
        resampling.bootstrap_means(with_gaps, resamples=200),
        resampling.bootstrap_means(values, resamples=200),
    )
    assert means[:, 0] == pytest.approx(whole[:, 0])
    assert means[:, 1].mean() == pytest.approx(values[10:, 1].mean(), abs=0.1)


def test_a_column_without_values_has_no_interval_and_no_warning() -> None:
    low, high = resampling.interval(resampling.bootstrap_means(np.array([[1.0, np.nan], [1.0, np.nan]]), resamples=20))
    assert low[0] == high[0] == 1.0
    assert np.isnan([low[1], high[1]]).all()
    assert np.isnan(resampling.bootstrap_means(np.empty((0, 2)), resamples=5)).all()


def test_twenty_methods_on_a_thousand_examples_take_seconds() -> None:
    values = values_of(1000, 20)
    pairs = [(a, b) for a in range(20) for b in range(a)]
    start = time.perf_counter()
    resampling.sign_flip_p(values, pairs)
    resampling.bootstrap_means(values)
    assert time.perf_counter() - start < 10


def test_few_values_are_resampled_as_many_are() -> None:
    values = np.random.default_rng(3).integers(0, 4, 500) / 3
    few, many = resampling.bootstrap_mean_of_few(values), resampling.bootstrap_means(values[:, None])
    assert few.shape == many.shape
    assert few.mean() == pytest.approx(many.mean(), abs=1e-3)
    assert few.std() == pytest.approx(many.std(), rel=0.05)
    for one, other in zip(resampling.interval(few), resampling.interval(many), strict=True):
        assert one == pytest.approx(other, abs=3e-3)
    assert resampling.bootstrap_mean_of_few(np.ones(7)).tolist() == [[1.0]] * len(few)
