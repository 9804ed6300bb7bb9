"""Paired comparisons of the ranked methods of a table in one metric (definitions, section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np

from faithboard.stats import resampling
from faithboard.stats.board import Comparison, Table

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy import ndarray

_TIE = 1e-12
"""Examples whose values differ by less are a tie: means over seeds differ in the last bits."""


def compare(
    table: Table,
    metric: str,
    better: Literal["higher", "lower"],
    methods: Sequence[str],
    values: Float[ndarray, "example method seed"],
    resampled: Float[ndarray, "resample method"],
) -> list[Comparison]:
    """Every pair of methods, on values without gaps. `resampled` are their bootstrap means on shared resamples.

    Different means: Holm-adjusted p <= 0.05 over all pairs given, and one sign of the mean difference in every seed.
    """
    pairs = list(combinations(range(len(methods)), 2))
    means = values.mean(2)
    p = resampling.sign_flip_p(means, pairs)
    adjusted = resampling.holm(p)
    sign = 1 if better == "higher" else -1
    found = []
    for at, (a, b) in enumerate(pairs):
        difference = means[:, a] - means[:, b]
        of_seed = (values[:, a] - values[:, b]).mean(0)
        same_sign = bool((of_seed > 0).all() or (of_seed < 0).all())
        low, high = resampling.interval(resampled[:, a] - resampled[:, b])
        winner = methods[a] if sign * difference.mean() > 0 else methods[b]
        found.append(
            Comparison(
                table=table.key,
                task=table.task,
                model=table.model,
                training=table.training,
                metric=metric,
                a=methods[a],
                b=methods[b],
                n=len(values),
                difference=resampling.rounded(difference.mean()),
                low=resampling.rounded(low),
                high=resampling.rounded(high),
                wins=int((sign * difference > _TIE).sum()),
                ties=int((np.abs(difference) <= _TIE).sum()),
                losses=int((sign * difference < -_TIE).sum()),
                p=resampling.rounded(p[at]),
                p_holm=resampling.rounded(adjusted[at]),
                same_sign=same_sign,
                better=winner if adjusted[at] <= resampling.LEVEL and same_sign else "",
            )
        )
    return found


def beats(comparisons: Sequence[Comparison], methods: Sequence[str]) -> np.ndarray:
    """Matrix `[a, b]`: True where a is significantly better than b."""
    place = {method: at for at, method in enumerate(methods)}
    matrix = np.zeros((len(methods), len(methods)), dtype=bool)
    for pair in comparisons:
        if pair.better:
            worse = pair.b if pair.better == pair.a else pair.a
            matrix[place[pair.better], place[worse]] = True
    return matrix
