"""Means over examples with their intervals, and spread over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from faithboard.stats import resampling

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy import ndarray

RESAMPLES = 2_000
"""Bootstrap resamples behind an interval of a page: a report shall take seconds."""


def mean_intervals(
    values: Float[ndarray, "example column"],
) -> tuple[Float[ndarray, "column"], Float[ndarray, "column"]]:
    """95 % bootstrap intervals of the means of columns, which share their resamples; NaN is no value."""
    return resampling.interval(resampling.bootstrap_means(values, resamples=RESAMPLES))


def spread_over_seeds(values: Float[ndarray, "example seed"]) -> float | None:
    """Standard deviation (ddof 1) of the means per seed; None for fewer than two."""
    means = [column[np.isfinite(column)].mean() for column in values.T if np.isfinite(column).any()]
    return resampling.rounded(np.std(means, ddof=1)) if len(means) > 1 else None


def seeds_agreeing(values: Float[ndarray, "example seed"], value: float) -> int:
    """Seeds whose own mean has the sign of `value`; none for 0."""
    return int((np.sign(resampling.mean_defined(values, 0)) == np.sign(value)).sum()) if value else 0


@dataclass(frozen=True)
class Estimate:
    """The mean of a column, with its 95 % bootstrap interval over examples."""

    n: int
    """Examples with a value."""
    value: float
    low: float
    high: float


def estimates(columns: Sequence[Float[ndarray, "example"]]) -> list[Estimate | None]:
    """One for each column of the same examples, which share their resamples; None for a column without any value."""
    if not columns:
        return []
    values = np.stack(columns, 1)
    low, high = mean_intervals(values)
    mean, n = resampling.mean_defined(values, 0), np.isfinite(values).sum(0)
    return [
        Estimate(int(n[at]), *(resampling.rounded(bound[at]) for bound in (mean, low, high))) if n[at] else None
        for at in range(len(columns))
    ]
