"""Kendall's tau-b with p-values for many pairs of vectors at once, equal to `scipy.stats.kendalltau`.

scipy takes one pair per call, and most of a call is overhead; here a whole batch shares every step.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, ndtr

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int

_EXACT = 33
"""Longest vectors without ties whose p-value is always exact: the rule of scipy's `method="auto"`."""


def kendall_tau(
    a: ArrayLike, b: ArrayLike, mask: ArrayLike
) -> tuple[Float64[np.ndarray, "batch"], Float64[np.ndarray, "batch"]]:
    """tau-b between row i of `a` and row i of `b` over the entries in `mask`, and its two-sided p-value.

    `a`, `b` and `mask` are `[batch, token]`. Both results are NaN where tau is undefined: fewer than two entries, a
    constant vector, a NaN among the entries. Without ties p is exact up to 33 entries, and beyond when at most one pair
    is discordant (or concordant); else it is the normal approximation, its variance corrected for ties (Kendall, "Rank
    Correlation Methods", 1970). Memory is O(T) per row and time O(T log T).
    """
    keep = np.asarray(mask, dtype=bool)
    values = [np.asarray(vector, dtype=np.float64) for vector in (a, b)]
    tau, p = np.full((2, len(keep)), np.nan)
    defined = np.logical_and(*(_varies(vector, keep) for vector in values))
    if not defined.any():
        return tau, p

    # Entries left out become NaN: they sort last, in order, and no two are equal, so none is tied or inverted.
    x, y = (_dense_ranks(np.where(keep, vector, np.nan)[defined]) for vector in values)
    n = keep[defined].sum(1).astype(np.float64)
    pairs = _pairs(n)
    joint = np.sort(x * x.shape[1] + y, 1)
    x_groups, y_groups, joint_groups = (_group_sizes(ranks) for ranks in (x, y, _steps(joint)))
    x_ties, y_ties, joint_ties = (_pairs(groups).sum(1) for groups in (x_groups, y_groups, joint_groups))
    inverted = _inversions(joint % x.shape[1])

    difference = pairs - x_ties - y_ties + joint_ties - 2 * inverted
    tau[defined] = np.clip(difference / np.sqrt(pairs - x_ties) / np.sqrt(pairs - y_ties), -1, 1)
    fewer = np.minimum(inverted, pairs - inverted)
    exact = (x_ties == 0) & (y_ties == 0) & ((n <= _EXACT) | (fewer <= 1))
    p[defined] = np.where(exact, _exact_p(n, fewer), _normal_p(difference, n, x_groups, y_groups))
    return tau, p


def _varies(values: Float64[np.ndarray, "batch token"], keep: Bool[np.ndarray, "batch token"]) -> np.ndarray:
    highest = np.where(keep, values, -np.inf).max(1, initial=-np.inf)
    lowest = np.where(keep, values, np.inf).min(1, initial=np.inf)
    return highest > lowest


def _dense_ranks(values: np.ndarray) -> Int[np.ndarray, "batch token"]:
    """0 for the smallest value of the row, one more for each next different one."""
    order = values.argsort(1, kind="stable")
    value = np.take_along_axis(values, order, 1)
    found = np.empty_like(order)
    np.put_along_axis(found, order, _steps(value), 1)
    return found


def _steps(ascending: np.ndarray) -> Int[np.ndarray, "batch token"]:
    """Dense ranks of rows that are sorted already."""
    rank = np.zeros(ascending.shape, dtype=np.int64)
    (ascending[:, 1:] != ascending[:, :-1]).cumsum(1, out=rank[:, 1:])
    return rank


def _group_sizes(ranks: Int[np.ndarray, "batch token"]) -> Float64[np.ndarray, "batch rank"]:
    """How many entries of the row have each rank."""
    rows, width = ranks.shape
    flat = (ranks + width * np.arange(rows)[:, None]).ravel()
    return np.bincount(flat, minlength=rows * width).reshape(rows, width).astype(np.float64)


def _pairs(n: np.ndarray) -> np.ndarray:
    return n * (n - 1) / 2


def _inversions(ranks: Int[np.ndarray, "batch token"]) -> Float64[np.ndarray, "batch"]:
    """Pairs of places i < j with the higher rank at i.

    Two such ranks agree down to some bit, where the first has a 1 and the second a 0. With ties told apart by place,
    and the row filled up in order to a power of two, each row is a permutation: of the entries that agree above a bit
    half have a 0 there. Each of these has as many ones before it as its place in the group less the zeros before it.
    """
    rows, width = ranks.shape
    half = 1 << max(0, width - 1).bit_length()
    entries = np.tile(np.arange(half, dtype=np.int32), (rows, 1))
    # The inverse permutation has as many inversions, and is what sorting gives.
    entries[:, :width] = ranks.argsort(1, kind="stable")
    found = np.zeros(rows)
    while half > 1:
        half //= 2
        flat = entries.ravel()
        one = (flat & half).astype(bool)
        zeros, ones = np.flatnonzero(~one), np.flatnonzero(one)
        place = zeros & (2 * half - 1)
        zeros_per_row = len(zeros) // rows
        found += place.reshape(rows, zeros_per_row).sum(1) - zeros_per_row * (half - 1) / 2
        entries = np.stack([flat[zeros].reshape(-1, half), flat[ones].reshape(-1, half)], 1)
    return found


def _exact_p(n: Float64[np.ndarray, "batch"], fewer: Float64[np.ndarray, "batch"]) -> Float64[np.ndarray, "batch"]:
    """Twice the chance that a random order of n has at most `fewer` inverted pairs; for n <= 33 or `fewer` <= 1."""
    table = _inversion_chances()
    short = table[np.minimum(n, _EXACT).astype(int), np.minimum(fewer, table.shape[1] - 1).astype(int)]
    # Longer: one order of n! has no inverted pair, and n of them at most one.
    long = np.exp(-gammaln(n + 1 - np.minimum(fewer, 1)))
    return np.minimum(1.0, 2 * np.where(n <= _EXACT, short, long))


@cache
def _inversion_chances() -> Float64[np.ndarray, "length inverted"]:
    """Chance that a random order of n entries has at most k inverted pairs."""
    chance = np.ones(1)
    table = np.ones((_EXACT + 1, _EXACT * (_EXACT - 1) // 2 + 1))
    for n in range(2, _EXACT + 1):
        # The n-th entry stands before 0 to n - 1 of the others, each with equal chance.
        chance = np.convolve(chance, np.full(n, 1 / n))
        table[n, : len(chance)] = chance.cumsum()
    return table


def _normal_p(
    difference: Float64[np.ndarray, "batch"],
    n: Float64[np.ndarray, "batch"],
    x: Float64[np.ndarray, "batch rank"],
    y: Float64[np.ndarray, "batch rank"],
) -> Float64[np.ndarray, "batch"]:
    """Two-sided p of concordant less discordant pairs, from the sizes of the groups of ties in both vectors."""
    x_pairs, y_pairs = (_pairs(size).sum(1) for size in (x, y))
    x_triples, y_triples = ((size * (size - 1) * (size - 2)).sum(1) for size in (x, y))
    spread = n * (n - 1) * (2 * n + 5) - sum((size * (size - 1) * (2 * size + 5)).sum(1) for size in (x, y))
    ordered = n * (n - 1)
    # Two entries have no triples; the maximum only keeps 0 / 0 away.
    triples = x_triples * y_triples / (9 * ordered * np.maximum(n - 2, 1))
    variance = spread / 18 + 2 * x_pairs * y_pairs / ordered + triples
    return 2 * ndtr(-np.abs(difference) / np.sqrt(variance))
