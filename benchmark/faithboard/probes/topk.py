"""Do two measures put the same words on top? Fagin's K^(1/2) on top-k lists (Fagin et al. 2003, section 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64

LEAST = 10


def list_length(mean_length: float) -> int:
    """k of a task: a tenth of its mean length, at least 10 (Jain & Wallace 2019, appendix)."""
    return max(LEAST, round(0.1 * mean_length))


def top_k_agreement(
    a: Float64[np.ndarray, "batch token"],
    b: Float64[np.ndarray, "batch token"],
    mask: Bool[np.ndarray, "batch token"],
    k: int,
) -> Float64[np.ndarray, "batch"]:
    """`1 - 2 K`, K = K^(1/2) / (k (3k - 1) / 2): 1 for equal lists, -1 for lists that share no word.

    The lists hold the k largest values in `mask`, ties in the order of the text; of a shorter text, all of them. So a
    list has min(k, T) words, and the floor depends on T: up to T = k both lists hold the same words, of which the
    opposite order still has 1 - 2 (T - 1) / (3T - 1), more than 1/3; -1 is reached from T = 2k on. NaN where a vector
    has a NaN among them or the text fewer than two tokens.
    """
    found = np.full(len(mask), np.nan)
    for row, own in enumerate(mask):
        x, y = a[row, own], b[row, own]
        if len(x) > 1 and not np.isnan(x).any() and not np.isnan(y).any():
            size = min(k, len(x))
            found[row] = 1 - 2 * _distance(_places(x, size), _places(y, size)) / (size * (3 * size - 1) / 2)
    return found


def _places(values: Float64[np.ndarray, "token"], k: int) -> Float64[np.ndarray, "token"]:
    """0 for the largest value, 1 for the next; infinity outside the list."""
    place = np.full(len(values), np.inf)
    place[(-values).argsort(kind="stable")[:k]] = np.arange(k)
    return place


def _distance(x: Float64[np.ndarray, "token"], y: Float64[np.ndarray, "token"]) -> float:
    """K^(1/2): pairs of words in either list that the two order differently.

    A word outside a list stands behind all in it, which makes one rule of three of the four cases: both words in both
    lists, one of them outside one list, each in a list of its own. In the fourth, both outside one list, that list says
    nothing of their order, and the pair counts one half.
    """
    listed = np.isfinite(x) | np.isfinite(y)
    first, second = np.triu_indices(int(listed.sum()), 1)
    own, other = x[listed], y[listed]
    with np.errstate(invalid="ignore"):
        product = np.sign(own[first] - own[second]) * np.sign(other[first] - other[second])
    return float((product < 0).sum() + np.isnan(product).sum() / 2)
