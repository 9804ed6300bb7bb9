"""tau-b and p-values against scipy, one pair at a time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from faithboard.probes.kendall import kendall_tau


def scipy_loop(a: np.ndarray, b: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    results = [kendalltau(x[keep], y[keep]) for x, y, keep in zip(a, b, mask, strict=True)]
    return np.array([r.statistic for r in results]), np.array([r.pvalue for r in results])


def lengths_mask(lengths: np.ndarray, width: int) -> np.ndarray:
    return np.arange(width) < lengths[:, None]


@pytest.mark.parametrize("width", [2, 3, 4, 5, 12, 33, 34, 60, 300])
@pytest.mark.parametrize("levels", [None, 2, 3, 20])
def test_equals_scipy(width: int, levels: int | None) -> None:
    rng = np.random.default_rng(width)
    a, b = rng.normal(size=(2, 40, width))
    b = b + rng.uniform(-3, 3, size=(40, 1)) * a
    if levels is not None:
        a, b = np.round(a * levels / 4), np.round(b * levels / 4)
    mask = lengths_mask(rng.integers(2, width + 1, size=40), width)
    tau, p = kendall_tau(a, b, mask)
    expected_tau, expected_p = scipy_loop(a, b, mask)
    np.testing.assert_allclose(tau, expected_tau, rtol=0, atol=1e-9)
    np.testing.assert_allclose(p, expected_p, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 33, 34, 40, 180])
@pytest.mark.parametrize("swaps", [0, 1, 2])
def test_nearly_equal_and_nearly_reversed_orders_are_exact(n: int, swaps: int) -> None:
    a = np.arange(n, dtype=float)
    b = a.copy()
    b[:2] = b[1::-1] if swaps else b[:2]
    b[-2:] = b[-2:][::-1] if swaps == 2 else b[-2:]
    rows, other = np.stack([a, a]), np.stack([b, b[::-1]])
    tau, p = kendall_tau(rows, other, np.ones((2, n)))
    expected_tau, expected_p = scipy_loop(rows, other, np.ones((2, n), dtype=bool))
    np.testing.assert_allclose(tau, expected_tau, rtol=0, atol=1e-9)
    np.testing.assert_allclose(p, expected_p, rtol=1e-9, atol=1e-300)


def test_by_hand() -> None:
    # 1 of 3 pairs is inverted: tau = (2 - 1) / 3. With one tie in b: (2 - 0) / sqrt(3 * 2).
    tau, _ = kendall_tau([[1, 2, 3], [1, 2, 3]], [[1, 3, 2], [1, 2, 2]], np.ones((2, 3)))
    np.testing.assert_allclose(tau, [1 / 3, 2 / np.sqrt(6)], atol=1e-12)


def test_undefined_rows_are_nan_and_leave_the_others_alone() -> None:
    a = np.array([[1.0, 2, 3], [5, 5, 5], [1, 2, 3], [1, 2, 3], [1, np.nan, 3], [1, 2, 3]])
    b = np.array([[1.0, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3], [7, 7, 9]])
    mask = np.array([[1, 1, 1], [1, 1, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1], [1, 1, 0]], dtype=bool)
    tau, p = kendall_tau(a, b, mask)
    assert tau[0] == 1
    assert p[0] == pytest.approx(1 / 3)
    assert np.isnan(tau[1:]).all()
    assert np.isnan(p[1:]).all()


def test_entries_outside_the_mask_change_nothing() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 8, 20))
    mask = rng.random((8, 20)) < 0.6
    expected = kendall_tau(a, b, mask)
    noise = np.where(mask, 0, rng.choice([np.nan, np.inf, 0.0, 1.0], size=(8, 20)))
    assert np.array_equal(expected, kendall_tau(a + noise, b + noise, mask))


def test_no_rows_and_two_thousand_tokens() -> None:
    tau, p = kendall_tau(np.ones((0, 3)), np.ones((0, 3)), np.ones((0, 3)))
    assert len(tau) == len(p) == 0
    a, b = np.random.default_rng(1).normal(size=(2, 4, 2_000))
    mask = np.ones((4, 2_000), dtype=bool)
    np.testing.assert_allclose(kendall_tau(a, b, mask), scipy_loop(a, b, mask), rtol=1e-9, atol=1e-9)
