"""Table 2 of Jain & Wallace (2019), and tau by length: how attention, gradient and leave-one-out agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from faithboard.probes.agreement import PAIRS, TESTABLE
from faithboard.published import PublishedTau
from faithboard.reproduction.attention.comparing import Place, neighbours, published_task, verdict
from faithboard.reproduction.attention.lines import LengthLine, TauLine
from faithboard.reproduction.attention.measured import LENGTH, Measured
from faithboard.reproduction.estimates import spread_over_seeds
from faithboard.stats import resampling

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy import ndarray

SIGNIFICANT = 0.05
QUARTERS = 4


def tau_lines(
    measured: Iterable[Measured],
    labels: Mapping[str, Sequence[str]],
    published: Mapping[Place, PublishedTau],
) -> list[TauLine]:
    """Every cell, over all examples and by predicted class, with its verdict. `labels`: task -> its classes."""
    cells = [
        cell
        for one in measured
        for predicted in (None, *one.classes(labels[one.task]))
        for pair in PAIRS
        if (cell := _cell(one, pair, predicted, labels[one.task])) is not None
    ]
    means = {place: known.mean for place, known in published.items()}
    # A substitute is compared with the same published cells as the task itself, each in its own order.
    of_task: dict[str, dict[Place, float]] = {}
    for cell in cells:
        of_task.setdefault(cell.task, {})[_place(cell)] = cell.mean
    return [_compared(cell, published.get(_place(cell)), of_task[cell.task], means) for cell in cells]


def length_lines(measured: Iterable[Measured]) -> list[LengthLine]:
    """tau by quarter of length; quarters of equal length are one."""
    return [line for one in measured for pair in PAIRS for line in _by_length(one, pair)]


def independent_variance(length: Float[ndarray, "*shape"]) -> Float[ndarray, "*shape"]:
    """Variance of Kendall's tau between two independent orders of T things (Kendall 1970): 2(2T + 5) / 9T(T - 1)."""
    return 2 * (2 * length + 5) / (9 * length * (length - 1))


def _cell(one: Measured, pair: str, predicted: int | None, labels: Sequence[str]) -> TauLine | None:
    """None when no example of the class has a tau."""
    tau = one.of_class(f"tau-{pair}", predicted)
    defined = np.isfinite(tau)
    if not defined.any():
        return None
    p = np.where(defined, one.columns[f"p-{pair}"], np.nan)
    tested = np.isfinite(p)
    members = np.isfinite(one.of_class(LENGTH, predicted))
    means = resampling.mean_defined(tau, 1)
    means = means[np.isfinite(means)]
    spreads = [column[np.isfinite(column)].std() for column in tau.T if np.isfinite(column).any()]
    return TauLine(
        task=one.task,
        model=one.model,
        pair=pair,
        predicted=predicted,
        label="" if predicted is None else labels[predicted],
        n=len(means),
        mean=resampling.rounded(means.mean()),
        sd=resampling.rounded(np.mean(spreads)),
        seed_spread=spread_over_seeds(tau),
        significant=resampling.rounded((p[tested] <= SIGNIFICANT).mean()) if tested.any() else None,
        untestable=resampling.rounded(1 - tested.sum() / defined.sum()),
        undefined=resampling.rounded(1 - defined.sum() / members.sum()),
        top_k=_top_k(one, pair, predicted),
    )


def _top_k(one: Measured, pair: str, predicted: int | None) -> float | None:
    if (column := f"top-k-{pair}") not in one.columns:
        return None
    means = one.mean(column, predicted)
    return resampling.rounded(means[np.isfinite(means)].mean()) if np.isfinite(means).any() else None


def _place(cell: TauLine) -> Place:
    return published_task(cell.task), cell.model, cell.pair, cell.predicted


def _compared(
    cell: TauLine, known: PublishedTau | None, ours: Mapping[Place, float], published: Mapping[Place, float]
) -> TauLine:
    if known is None:
        return cell
    return replace(
        cell,
        published_mean=known.mean,
        published_sd=known.sd,
        published_significant=known.significant,
        difference=resampling.rounded(cell.mean - known.mean),
        verdict=verdict(cell.mean, known.mean, neighbours(_place(cell), ours, published)),
    )


def _by_length(one: Measured, pair: str) -> Iterator[LengthLine]:
    length = one.columns[LENGTH]
    own = resampling.mean_defined(length, 1)  # the same in every seed that has the example
    edges = np.unique(np.quantile(own, np.linspace(0, 1, QUARTERS + 1), method="lower"))
    starts = edges[:-1] if len(edges) > 1 else edges
    for low, high in zip(starts, [*starts[1:], np.inf], strict=True):
        rows = (own >= low) & (own < high)
        tau, p, size = one.columns[f"tau-{pair}"][rows], one.columns[f"p-{pair}"][rows], length[rows]
        there, defined = np.isfinite(size), np.isfinite(tau)
        if not defined.any():
            continue
        tested = defined & (size >= TESTABLE)
        with np.errstate(invalid="ignore"):
            significant = tested & (p <= SIGNIFICANT)
        count = there.sum()
        yield LengthLine(
            task=one.task,
            model=one.model,
            pair=pair,
            shortest=int(own[rows].min()),
            longest=int(own[rows].max()),
            n=int(rows.sum()),
            mean=resampling.rounded(tau[defined].mean()),
            excess_variance=resampling.rounded(
                np.mean([_excess(column, lengths) for column, lengths in zip(tau.T, size.T, strict=True)])
            ),
            significant=resampling.rounded(significant.sum() / count),
            not_significant=resampling.rounded((tested & ~significant).sum() / count),
            untestable=resampling.rounded((defined & ~tested).sum() / count),
            undefined=resampling.rounded((there & ~defined).sum() / count),
        )


def _excess(tau: Float[ndarray, "example"], length: Float[ndarray, "example"]) -> float:
    defined = np.isfinite(tau)
    if not defined.any():
        return 0.0
    return float(tau[defined].var() - independent_variance(length[defined]).mean())
