"""Intervals, paired tests and ranks on plain arrays (definitions, section 6). Nothing here knows of methods or files.

The unit is the example. Arrays are float64 `[example, method]`, one table's methods side by side, so that all of them
see the same resamples and the same sign flips. Differences between methods come out of shared draws for free:
the resampled mean of a - b is the resampled mean of a less that of b.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, SupportsFloat

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int
    from numpy import ndarray

LEVEL = 0.05
"""Two methods are called different at or below this Holm-adjusted p."""
RESAMPLES = 10_000
FLIPS = 100_000
SEED = 20_190_605

_CHUNK = 2**21
"""Elements of one block of draws; keeps memory at a few tens of MiB whatever the table's size."""
_TIE = 1e-12
"""Statistics this close, relative to the sum of absolute values, are equal: float sums of one set differ by order."""


def mean_defined(values: Float[ndarray, "..."], axis: int) -> Float[ndarray, "..."]:
    """Mean along an axis over what is not NaN; NaN, without a warning, where nothing is."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.where(defined, values, 0.0).sum(axis) / defined.sum(axis)


def bootstrap_means(
    values: Float[ndarray, "example method"], resamples: int = RESAMPLES, seed: int = SEED
) -> Float[ndarray, "resample method"]:
    """Means over resampled examples (drawn with replacement), the same resamples for every column.

    NaN marks an example without a value for a column; the mean is over the others. A resample without any is NaN.
    """
    count, methods = values.shape
    if not count:
        return np.full((resamples, methods), np.nan)
    present = np.isfinite(values)
    filled = np.where(present, values, 0.0)
    generator = np.random.default_rng(seed)
    means = np.empty((resamples, methods))
    block = max(1, _CHUNK // max(count, 1))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        drawn = generator.integers(0, count, (size, count)) + count * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count).astype(float)
        with np.errstate(invalid="ignore"):
            means[start : start + size] = (times @ filled) / (times @ present)
    return means


def bootstrap_mean_of_few(
    values: Float[ndarray, "example"], resamples: int = RESAMPLES, seed: int = SEED
) -> Float[ndarray, "resample one"]:
    """Means over resampled examples whose values are few, as shares of right answers are.

    How often each value is drawn is multinomial, which takes one draw per value instead of one per example.
    """
    levels, times = np.unique(values, return_counts=True)
    drawn = np.random.default_rng(seed).multinomial(len(values), times / len(values), resamples)
    return (drawn @ levels / len(values))[:, None]


def bootstrap_medians(
    values: Float[ndarray, "example method"], resamples: int = RESAMPLES, seed: int = SEED
) -> Float[ndarray, "resample method"]:
    """Medians over resampled examples, the same resamples for every column; NaN as for `bootstrap_means`."""
    count, methods = values.shape
    medians = np.full((resamples, methods), np.nan)
    if not count:
        return medians
    generator = np.random.default_rng(seed)
    block = max(1, _CHUNK // (count * max(methods, 1)))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN", RuntimeWarning)  # as above: what has no value stays NaN
        for start in range(0, resamples, block):
            size = min(block, resamples - start)
            drawn = generator.integers(0, count, (size, count))
            medians[start : start + size] = np.nanmedian(values[drawn], axis=1)
    return medians


def interval(
    means: Float[ndarray, "resample *column"], level: float = 0.95
) -> tuple[Float[ndarray, "*column"], Float[ndarray, "*column"]]:
    """Bounds of the percentile interval of resampled means, per column."""
    tail = (1 - level) / 2
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN", RuntimeWarning)  # a column without any value stays NaN
        low, high = np.nanquantile(means, [tail, 1 - tail], axis=0)
    return low, high


def sign_flip_p(
    values: Float[ndarray, "example method"],
    pairs: Sequence[tuple[int, int]],
    flips: int = FLIPS,
    seed: int = SEED,
) -> Float[ndarray, "pair"]:
    """Two-sided p of the paired sign-flip test for columns (a, b) of each pair; statistic: the mean difference.

    With at most `flips` sign patterns (2^n <= flips) all are counted and p is exact. Otherwise `flips` random ones
    are drawn, the same for all pairs, and p = (1 + count) / (1 + flips) (Phipson & Smyth 2010), never 0.
    Columns that are equal everywhere give p = 1. Raises ValueError for a value that is not finite: it would make the
    differences of all columns NaN, and NaN is never extreme.
    """
    if not np.isfinite(values).all():
        raise ValueError("a paired test needs finite values; fill or leave out what is undefined")
    if not pairs:
        return np.empty(0)
    count = len(values)
    first, second = (np.array(column) for column in zip(*pairs, strict=True))
    # The mean method of an example cancels in every difference; taking it out first keeps large offsets from hurting.
    centred = values - values.mean(1, keepdims=True)
    sums, sizes = centred.sum(0), np.abs(centred).sum(0)
    reached = np.abs(sums[first] - sums[second]) - _TIE * (sizes[first] + sizes[second])
    extreme = np.zeros(len(pairs), dtype=np.int64)
    exact = count < 63 and 2**count <= flips
    for signs in _all_signs(count) if exact else _random_signs(count, flips, seed):
        sums = signs @ centred
        extreme += (np.abs(sums[:, first] - sums[:, second]) >= reached).sum(0)
    return extreme / 2**count if exact else (1 + extreme) / (1 + flips)


def _all_signs(count: int) -> Iterator[Float[ndarray, "flip example"]]:
    yield np.array(list(product((1.0, -1.0), repeat=count))).reshape(2**count, count)


def _random_signs(count: int, flips: int, seed: int) -> Iterator[Float[ndarray, "flip example"]]:
    generator = np.random.default_rng(seed)
    width = -(-count // 8)
    block = max(1, _CHUNK // count)
    for start in range(0, flips, block):
        size = min(block, flips - start)
        octets = np.frombuffer(generator.bytes(size * width), dtype=np.uint8).reshape(size, width)
        yield 1.0 - 2.0 * np.unpackbits(octets, axis=1, count=count)


def holm(p: Float[ndarray, "pair"]) -> Float[ndarray, "pair"]:
    """Holm's step-down adjustment (Holm 1979) of a family of p values, in the given order."""
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def ranks(
    better: Bool[ndarray, "method method"],
) -> tuple[Int[ndarray, "method"], Int[ndarray, "method"]]:
    """Rank and upper end of the rank interval; `better[a, b]` says that a is significantly better than b.

    rank = 1 + number of methods significantly better, and at best it is that; at worst it is M less the number
    significantly worse. Equal ranks are a tie.
    """
    return 1 + better.sum(0), len(better) - better.sum(1)


def rounded(value: SupportsFloat) -> float:
    """The value to six significant digits: what is stored, so that machines agree on the lines of a leaderboard."""
    return float(f"{float(value):.6g}")


def rounded_or_none(value: SupportsFloat | None) -> float | None:
    """The same, with None for a value that is not there (None, NaN)."""
    return None if value is None or not math.isfinite(value) else rounded(value)
