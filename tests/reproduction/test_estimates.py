from __future__ import annotations

import math

import numpy as np
import pytest

from faithboard.reproduction.estimates import mean_intervals, spread_over_seeds

NAN = math.nan


def test_intervals_are_of_the_mean_and_leave_out_what_is_not_defined() -> None:
    values = np.random.default_rng(0).normal(3.0, 1.0, size=400)
    low, high = mean_intervals(np.stack([values, values + 1, np.where(np.arange(400) < 200, values, NAN)], 1))
    # 1.96 standard errors of 0.05 to each side, and of 0.07 for half of the values.
    assert values.mean() - low[0] == pytest.approx(1.96 * values.std() / 20, rel=0.1)
    assert high[0] - values.mean() == pytest.approx(1.96 * values.std() / 20, rel=0.1)
    np.testing.assert_allclose([low[1], high[1]], [low[0] + 1, high[0] + 1])
    assert high[2] - low[2] > 1.2 * (high[0] - low[0])


def test_columns_without_a_value_have_no_interval() -> None:
    low, high = mean_intervals(np.full((3, 1), NAN))
    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_spread_is_that_of_the_means_per_seed() -> None:
    assert spread_over_seeds(np.array([[0.0, 1.0], [0.2, NAN]])) == pytest.approx(0.9 / math.sqrt(2), abs=1e-6)
    assert spread_over_seeds(np.array([[0.1, NAN], [0.2, NAN]])) is None
