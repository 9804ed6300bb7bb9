"""Taus of many vectors at once, against scipy and by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from faithboard.stats import magnitudes
from faithboard.stats.magnitudes import between_draws, by_example, of_same_draws, tau_matrix


@pytest.mark.parametrize("tokens", [2, 3, 17, 60])
@pytest.mark.parametrize("chunk", [2**20, 50])
def test_every_pair_equals_scipy_with_ties_and_signs(tokens: int, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(magnitudes, "_CHUNK", chunk)
    generator = np.random.default_rng(tokens)
    vectors = generator.normal(size=(7, tokens))
    vectors[4:] = vectors[4:].round()  # many ties
    found = tau_matrix(vectors)
    for a, b in combinations(range(7), 2):
        expected = kendalltau(np.abs(vectors[a]), np.abs(vectors[b])).statistic
        assert found[a, b] == pytest.approx(expected, nan_ok=True, abs=1e-12)
        assert found[b, a] == pytest.approx(found[a, b], nan_ok=True)


def test_equal_is_one_reversed_minus_one_and_signs_play_no_part() -> None:
    vector = np.array([1.0, -2.0, 3.0, 4.0])
    found = tau_matrix(np.stack([vector, -vector, 2 * vector, 1 / vector]))
    np.testing.assert_allclose(found[0], [1, 1, 1, -1])


def test_one_swap_of_four_by_hand() -> None:
    assert tau_matrix(np.array([[1.0, 2, 3, 4], [2.0, 1, 3, 4]]))[0, 1] == pytest.approx(4 / 6)


def test_constant_vectors_and_single_tokens_are_undefined() -> None:
    rows = np.array([[1.0, 2.0, 3.0], [2.0, -2.0, 2.0], [1.0, 1.0 + 1e-8, 1.0], [0.0, 0.0, 0.0]])
    found = tau_matrix(rows)
    assert found[0, 0] == 1
    assert np.isnan(found[1:]).all()
    assert np.isnan(found[:, 1:]).all()
    assert np.isnan(tau_matrix(np.ones((2, 1)))).all()


def test_draws_are_averaged_all_with_all_or_each_with_its_own() -> None:
    up, down, flat = np.arange(1.0, 4), np.arange(3.0, 0, -1), np.ones(3)
    blocks = [np.stack([up, down]), np.stack([up, down]), up[None], np.stack([flat, down])]
    every = between_draws(blocks)
    assert every[0, 1] == 0  # 1, -1, -1, 1
    assert every[0, 2] == 0
    assert every[2, 3] == -1  # a draw without a tau takes no part
    assert of_same_draws(blocks[:2]).tolist() == [1]
    assert of_same_draws([blocks[0], blocks[3]]).tolist() == [1]
    assert np.isnan(of_same_draws([flat[None], flat[None]])).all()


def test_stored_scores_come_in_the_order_of_draws() -> None:
    frame = pd.DataFrame(
        {"example": ["b", "a", "b"], "draw": [1, 0, 0], "scores": [[3.0, 4.0], [5.0], [1.0, 2.0]], "total": np.nan}
    )
    found = by_example(frame)
    assert {name: one.tolist() for name, one in found.items()} == {"a": [[5.0]], "b": [[1.0, 2.0], [3.0, 4.0]]}
