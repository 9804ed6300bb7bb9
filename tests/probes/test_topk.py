"""Fagin's distance of top-k lists, against its four cases written out and lists solved by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from faithboard.probes.topk import list_length, top_k_agreement


def by_cases(x: np.ndarray, y: np.ndarray, k: int) -> float:
    a, b = ([int(i) for i in (-values).argsort(kind="stable")[:k]] for values in (x, y))
    distance = 0.0
    for i, j in combinations(sorted({*a, *b}), 2):
        inside = (i in a, j in a, i in b, j in b)
        if all(inside):
            distance += (a.index(i) < a.index(j)) != (b.index(i) < b.index(j))
        elif inside[0] and inside[1] and (inside[2] or inside[3]):
            distance += (a.index(i) < a.index(j)) != inside[2]
        elif inside[2] and inside[3] and (inside[0] or inside[1]):
            distance += (b.index(i) < b.index(j)) != inside[0]
        elif inside in ((True, True, False, False), (False, False, True, True)):
            distance += 0.5
        else:
            distance += 1
    return 1 - 2 * distance / (k * (3 * k - 1) / 2)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 10])
def test_equals_the_four_cases(k: int) -> None:
    rng = np.random.default_rng(k)
    a, b = rng.normal(size=(2, 40, 12))
    b[::2] = a[::2] + rng.normal(size=(20, 12))
    found = top_k_agreement(a, b, np.ones(a.shape, dtype=bool), k)
    assert found.tolist() == pytest.approx([by_cases(x, y, k) for x, y in zip(a, b, strict=True)])


def test_equal_lists_agree_fully_and_lists_without_a_common_word_not_at_all() -> None:
    a = np.array([[5.0, 4, 3, 2, 1, 0]])
    everything = np.ones(a.shape, dtype=bool)
    assert top_k_agreement(a, a, everything, 3).tolist() == [1]
    assert top_k_agreement(a, -a, everything, 3).tolist() == [-1]


def test_only_the_mask_counts_and_a_short_text_has_a_short_list() -> None:
    a = np.array([[9.0, 2, 1, 9], [9, 2, 1, 9]])
    b = np.array([[0.0, 2, 1, 5], [0, 1, 2, 5]])
    mask = np.array([[False, True, True, False]] * 2)
    # Two words, two orders: one pair of the five that lists of two could differ by.
    assert top_k_agreement(a, b, mask, 10).tolist() == pytest.approx([1, 1 - 2 / 5])


@pytest.mark.parametrize(("length", "floor"), [(2, 0.6), (5, 1 - 8 / 14), (10, 1 - 18 / 29)])
def test_lists_of_all_words_cannot_fall_below_a_third(length: int, floor: float) -> None:
    a = np.arange(length, dtype=float)[None]
    (found,) = top_k_agreement(a, -a, np.ones(a.shape, dtype=bool), 10)
    assert found == pytest.approx(floor)
    assert found > 1 / 3


@pytest.mark.parametrize(("length", "reached"), [(19, False), (20, True), (30, True)])
def test_full_disagreement_takes_twice_as_many_words_as_a_list_has(length: int, reached: bool) -> None:
    a = np.arange(length, dtype=float)[None]
    (found,) = top_k_agreement(a, -a, np.ones(a.shape, dtype=bool), 10)
    assert (found == -1) == reached


def test_undefined_for_one_word_and_for_a_vector_that_is() -> None:
    a = np.array([[1.0, 2.0], [np.nan, 1.0]])
    mask = np.array([[True, False], [True, True]])
    assert np.isnan(top_k_agreement(a, a, mask, 10)).all()


def test_k_is_a_tenth_of_the_mean_length_and_at_least_ten() -> None:
    assert [list_length(length) for length in (19.0, 104.9, 1857.0)] == [10, 10, 186]
