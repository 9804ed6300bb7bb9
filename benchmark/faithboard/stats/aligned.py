"""The values of all methods of a table in one metric, on the same examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from faithboard.records import Row
from faithboard.stats.board import Table
from faithboard.stats.entries import BASELINE, Entry

if TYPE_CHECKING:
    import pandas as pd
    from jaxtyping import Float
    from numpy import ndarray

UNDEFINED_LIMIT = 0.05
"""A row with a larger share of undefined examples is not ranked."""


@dataclass(frozen=True)
class Aligned:
    """Examples in the order of their ids, methods in the order of the entries, seeds in that of the table."""

    examples: tuple[str, ...]
    values: Float[ndarray, "example method seed"]
    """The baseline's value stands in for an undefined one; NaN where there is none."""
    undefined: Float[ndarray, "method"]
    """Share of its (example, seed) that a method had no defined value for."""
    excluded: int
    """Explained examples that are left out for every method alike."""
    reasons: tuple[str, ...]
    """Per method: why its row is not ranked; empty when it may be."""


def align(
    table: Table, info: Row, entries: Sequence[Entry], values: Mapping[tuple[str, str], pd.Series[float]]
) -> Aligned:
    """Bring the values of a metric, (explanation key, metric) -> value by example, onto the examples of every seed.

    Values of another version or other parameters than those of `info` are left out, as they measure something else.
    Which examples there are is decided by the complete rows together: a row that lacks some of them is incomplete
    itself and takes nothing away from the others. An example that the baseline has no defined value for is excluded
    for all, since nothing could stand in for it.
    """
    reasons = [entry.incomplete(info, table) for entry in entries]
    cells = {
        (at, seed): values[place]
        for at, entry in enumerate(entries)
        for seed in entry.current(info)
        if seed in table.seeds and (place := (entry.by_seed[seed].key, info.metric)) in values
    }
    for at, seed in product(range(len(entries)), table.seeds):
        if (at, seed) not in cells:
            reasons[at] = reasons[at] or f"no example has a value (seed {seed})"
    deciding = [place for place in cells if not reasons[place[0]]] or list(cells)
    of_seed = [{name for place in deciding if place[1] == seed for name in cells[place].index} for seed in table.seeds]
    examples = sorted(set.intersection(*filter(None, of_seed))) if any(of_seed) else []

    aligned = np.full((len(examples), len(entries), len(table.seeds)), np.nan)
    present = np.zeros(aligned.shape, dtype=bool)
    for (at, seed), cell in cells.items():
        column = table.seeds.index(seed)
        aligned[:, at, column] = cell.where(np.isfinite(cell)).reindex(examples)
        present[:, at, column] = np.isin(examples, cell.index)
        lacking = int((~present[:, at, column]).sum())
        if lacking:
            reasons[at] = reasons[at] or f"no value for {lacking} of {len(examples)} examples (seed {seed})"

    baseline = next((at for at, e in enumerate(entries) if e.method == BASELINE and not reasons[at]), None)
    if baseline is not None:
        kept = ~np.isnan(aligned[:, baseline]).any(1)
        aligned, present = aligned[kept], present[kept]
        examples = [name for name, stays in zip(examples, kept, strict=True) if stays]
    gaps = np.isnan(aligned) & present
    undefined = gaps.sum((0, 2)) / np.maximum(present.sum((0, 2)), 1)
    if baseline is not None:
        aligned = np.where(gaps, aligned[:, [baseline]], aligned)
    if not len(aligned):
        reasons = [reason or "no example has a value" for reason in reasons]
    explained = max((e.examples for entry in entries for e in entry.by_seed.values()), default=0)
    return Aligned(
        examples=tuple(examples),
        values=aligned,
        undefined=undefined,
        excluded=max(explained, len(set().union(*of_seed))) - len(aligned),
        reasons=tuple(
            reason or _undefined(share, baseline is not None) for reason, share in zip(reasons, undefined, strict=True)
        ),
    )


def _undefined(share: float, baseline: bool) -> str:
    if share > UNDEFINED_LIMIT:
        return f"undefined for {share:.1%} of the examples, above {UNDEFINED_LIMIT:.0%}"
    if share > 0 and not baseline:
        return f"undefined for {share:.1%} of the examples, and no random baseline is here to stand in"
    return ""
