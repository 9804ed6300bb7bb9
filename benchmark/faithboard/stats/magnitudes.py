"""Kendall's tau-b between the magnitudes that many explanations give to the words of one text, all pairs at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from faithboard.order import TIE

if TYPE_CHECKING:
    import pandas as pd
    from jaxtyping import Float
    from numpy import ndarray

ReadScores = Callable[[str], "pd.DataFrame"]
"""Key of an explanation -> its stored scores: columns example, draw, scores (one per scorable token). It may read."""

_CHUNK = 2**20
"""Signs that are held at once."""


def by_example(scores: pd.DataFrame) -> dict[str, Float[ndarray, "draw token"]]:
    """Example -> scores of every draw, from columns example, draw, scores."""
    ordered = scores.sort_values("draw", kind="stable")
    return {
        str(name): np.stack([np.asarray(one, dtype=np.float64) for one in group])
        for name, group in ordered.groupby("example")["scores"]
    }


def tau_matrix(vectors: Float[ndarray, "vector token"]) -> Float[ndarray, "vector vector"]:
    """tau-b between |row a| and |row b|; NaN where either is constant or there are fewer than two tokens.

    Constant is what lies within `TIE` of its largest value. Pairs of tokens that are in order count 1, in the opposite
    order -1 and tied 0: the products of all rows are one matrix product (Kendall 1970). Time and memory are O(T^2).
    """
    values = np.abs(vectors)
    count, tokens = values.shape
    largest = values.max(1, initial=0.0)
    varies = largest - values.min(1, initial=np.inf) > TIE * largest
    ranks = rankdata(values, method="dense", axis=1).astype(np.float32)
    agreeing = np.zeros((count, count))
    signs = np.empty((count, min(_CHUNK // max(count, 1) + tokens, tokens * (tokens - 1) // 2)), dtype=np.float32)
    filled = 0
    for token in range(tokens - 1):
        size = tokens - 1 - token
        if filled + size > signs.shape[1]:
            agreeing += _products(signs[:, :filled])
            filled = 0
        np.subtract(ranks[:, token + 1 :], ranks[:, [token]], out=signs[:, filled : filled + size])
        filled += size
    agreeing += _products(signs[:, :filled])
    untied = np.sqrt(np.diag(agreeing))
    with np.errstate(invalid="ignore", divide="ignore"):
        taus = np.clip(agreeing / np.outer(untied, untied), -1, 1)
    return np.where(np.outer(varies, varies), taus, np.nan)


def _products(differences: Float[ndarray, "vector pair"]) -> Float[ndarray, "vector vector"]:
    """Products of the signs of differences of ranks, which are whole: limiting them to 1 leaves the sign.

    Sums over a chunk are whole numbers below 2^24, which float32 holds exactly.
    """
    np.clip(differences, -1, 1, out=differences)
    return differences @ differences.T


def between_draws(blocks: Sequence[Float[ndarray, "draw token"]]) -> Float[ndarray, "block block"]:
    """Mean tau between explanations of several draws each, over every draw of one with every draw of the other."""
    taus = tau_matrix(np.concatenate(blocks))
    starts = np.cumsum([0, *(len(block) for block in blocks[:-1])])
    defined = np.isfinite(taus)
    total, number = (
        np.add.reduceat(np.add.reduceat(part, starts, 0), starts, 1)
        for part in (np.where(defined, taus, 0.0), defined.astype(np.float64))
    )
    with np.errstate(invalid="ignore"):
        return total / number


def of_same_draws(blocks: Sequence[Float[ndarray, "draw token"]]) -> Float[ndarray, "pair"]:
    """Mean tau of each pair of blocks (in the order of `combinations`), draw 0 with draw 0 and so on."""
    draws = min(len(block) for block in blocks)
    taus = np.stack([tau_matrix(np.stack([block[draw] for block in blocks])) for draw in range(draws)])
    pairs = [taus[:, a, b] for a, b in combinations(range(len(blocks)), 2)]
    defined = np.isfinite(pairs)
    with np.errstate(invalid="ignore"):
        mean: Float[ndarray, "pair"] = np.where(defined, pairs, 0.0).sum(1) / defined.sum(1)
    return mean
