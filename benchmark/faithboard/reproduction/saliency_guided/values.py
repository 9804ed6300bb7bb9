"""The language table of Ismail et al. (2021): values, differences between trainings, and methods against chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithboard.reproduction.estimates import Estimate, estimates, seeds_agreeing, spread_over_seeds
from faithboard.reproduction.saliency_guided.comparing import (
    METRICS,
    MODEL,
    NORMALISED,
    PAIRS,
    RANDOM,
    baseline_verdict,
    direction,
    verdict,
)
from faithboard.reproduction.saliency_guided.lines import BaselineLine, DifferenceLine, ValueLine
from faithboard.reproduction.saliency_guided.measured import Cell, Measured, mean_over_seeds
from faithboard.stats import resampling

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy import ndarray

Published = Mapping[tuple[str, str, str, str], float]
"""(task, method, metric, training) -> value."""


@dataclass(frozen=True)
class _Difference:
    """A cell of one training less that of another, or a method's less that of a random order."""

    cell: Cell
    seeds: tuple[int, ...]
    plain: Float[ndarray, "example seed"]
    relative: Float[ndarray, "example seed"]


def comparable(a: Measured, b: Measured) -> bool:
    """Whether both were trained and explained on the same data."""
    return all(
        (one.fingerprint, one.task_version) == (a.records[0].fingerprint, a.records[0].task_version)
        for one in b.records
    )


def value_lines(group: Sequence[Measured], published: Published) -> list[ValueLine]:
    """Every method in every metric, on the models of every training of one task and model."""
    cells = [(one, cell) for one in group for cell in one.values if one.scored(cell)]
    plain, relative = (
        estimates([mean_over_seeds(one.of(cell, one.scored(cell), relative=divided)) for one, cell in cells])
        for divided in (False, True)
    )
    return [
        _value(one, cell, own, divided, published)
        for (one, cell), own, divided in zip(cells, plain, relative, strict=True)
        if own is not None
    ]


def difference_lines(
    group: Sequence[Measured], published: Published, *, equal_epochs: bool = False
) -> list[DifferenceLine]:
    """Every pair of trainings in every method and metric that both have a value of in some seed.

    With `equal_epochs` over the seeds alone whose two models kept the same epoch, for pairs of which some did not.
    """
    of = {one.training: one for one in group}
    pairs = [(of[a], of[b]) for a, b in PAIRS if a in of and b in of and comparable(of[a], of[b])]
    if equal_epochs:
        pairs = [(a, b) for a, b in pairs if len(_equally_long(a, b)) < len(_common(a, b))]
    found = [
        (a, b, difference)
        for a, b in pairs
        for difference in _between(a, b, _equally_long(a, b) if equal_epochs else _common(a, b))
    ]
    plain = estimates([mean_over_seeds(difference.plain) for *_, difference in found])
    relative = estimates([mean_over_seeds(difference.relative) for *_, difference in found])
    return [
        _difference(a, b, difference, own, divided, published)
        for (a, b, difference), own, divided in zip(found, plain, relative, strict=True)
        if own is not None
    ]


def baseline_lines(group: Sequence[Measured], published: Published) -> list[BaselineLine]:
    """Every method less a random order, on the same models."""
    found = [(one, difference) for one in group for difference in _above_random(one)]
    plain = estimates([mean_over_seeds(difference.plain) for _, difference in found])
    return [
        _baseline(one, difference, own, published)
        for (one, difference), own in zip(found, plain, strict=True)
        if own is not None
    ]


def _value(one: Measured, cell: Cell, own: Estimate, divided: Estimate | None, published: Published) -> ValueLine:
    method, (metric, profile) = cell[0], METRICS[cell[1]]
    theirs = _published(published, one.model, profile, (one.task, method, metric, one.training))
    return ValueLine(
        task=one.task,
        model=one.model,
        training=one.training,
        method=method,
        metric=metric,
        profile=profile,
        seeds=list(one.scored(cell)),
        n=own.n,
        value=own.value,
        low=own.low,
        high=own.high,
        seed_spread=spread_over_seeds(one.values[cell]),
        undefined=resampling.rounded(one.undefined[cell]),
        relative=divided.value if divided else None,
        relative_low=divided.low if divided else None,
        relative_high=divided.high if divided else None,
        published=theirs,
        difference=None if theirs is None else resampling.rounded(own.value - theirs),
    )


def _common(a: Measured, b: Measured) -> list[int]:
    return [seed for seed in a.seeds if seed in b.seeds]


def _equally_long(a: Measured, b: Measured) -> list[int]:
    """Seeds whose models both kept the weights of one epoch, which is known of both."""
    own, other = a.best_epochs, b.best_epochs
    return [seed for seed in _common(a, b) if own[seed] is not None and own[seed] == other[seed]]


def _between(a: Measured, b: Measured, among: Sequence[int]) -> Iterator[_Difference]:
    for cell in a.values:
        seeds = tuple(seed for seed in a.scored(cell) if seed in b.scored(cell) and seed in among)
        if seeds:
            plain, relative = (
                a.of(cell, seeds, relative=divided) - b.of(cell, seeds, relative=divided) for divided in (False, True)
            )
            yield _Difference(cell, seeds, plain, relative)


def _difference(
    a: Measured, b: Measured, found: _Difference, own: Estimate, divided: Estimate | None, published: Published
) -> DifferenceLine:
    method, (metric, profile) = found.cell[0], METRICS[found.cell[1]]
    places = [(a.task, method, metric, training) for training in (a.training, b.training)]
    theirs = _published(published, a.model, profile, *places)
    return DifferenceLine(
        task=a.task,
        model=a.model,
        a=a.training,
        b=b.training,
        method=method,
        metric=metric,
        profile=profile,
        seeds=list(found.seeds),
        n=own.n,
        value=own.value,
        low=own.low,
        high=own.high,
        seed_spread=spread_over_seeds(found.plain),
        agreeing=seeds_agreeing(found.plain, own.value),
        published=theirs,
        verdict=verdict(direction(own.low, own.high, own.n), theirs),
        relative=divided.value if divided else None,
        relative_low=divided.low if divided else None,
        relative_high=divided.high if divided else None,
        relative_verdict=verdict(direction(divided.low, divided.high, divided.n), theirs) if divided else "",
    )


def _above_random(one: Measured) -> Iterator[_Difference]:
    for method, row in one.values:
        if method == RANDOM or (RANDOM, row) not in one.values:
            continue
        seeds = tuple(seed for seed in one.scored((method, row)) if seed in one.scored((RANDOM, row)))
        if seeds:
            plain = one.of((method, row), seeds) - one.of((RANDOM, row), seeds)
            yield _Difference((method, row), seeds, plain, plain)


def _baseline(one: Measured, found: _Difference, own: Estimate, published: Published) -> BaselineLine:
    method, (metric, profile) = found.cell[0], METRICS[found.cell[1]]
    places = [(one.task, name, metric, one.training) for name in (method, RANDOM)]
    return BaselineLine(
        task=one.task,
        model=one.model,
        training=one.training,
        method=method,
        metric=metric,
        profile=profile,
        seeds=list(found.seeds),
        n=own.n,
        value=own.value,
        low=own.low,
        high=own.high,
        agreeing=seeds_agreeing(found.plain, own.value),
        published=_published(published, one.model, profile, *places),
        verdict=baseline_verdict(direction(own.low, own.high, own.n), metric),
    )


def _published(published: Published, model: str, profile: str, *places: tuple[str, str, str, str]) -> float | None:
    """The published value of a place, or the first of two less the second; None where one of them is not in print."""
    known = [published.get(place) for place in places]
    if model != MODEL or profile == NORMALISED or any(value is None for value in known):
        return None
    first, *others = (value for value in known if value is not None)
    return resampling.rounded(first - others[0]) if others else first
