"""Means over examples with their intervals, and spread over seeds."""

from __future__ import annotations

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
