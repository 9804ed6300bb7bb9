"""How the output depends on attention: shuffled weights, and the most different ones that keep the output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from faithboard.published import PublishedDivergence
from faithboard.reproduction.attention.comparing import published_task
from faithboard.reproduction.attention.lines import DivergenceLine, PermutationLine
from faithboard.reproduction.attention.measured import Measured
from faithboard.reproduction.estimates import mean_intervals
from faithboard.stats import resampling

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy import ndarray

MOVED, LARGEST = "permutation-median-tvd", "max-attention"
SMALL = 0.05
"""A median change of the output below this is little."""
BINS = ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0))
"""Ranges of the largest attention weight; each holds its lower bound, the last both."""
PROFILES = {"code-2019": "adversarial-code-2019", "paper": "adversarial"}
"""Constants of the search -> name of the probe. The published figures were made with those of the code."""
DIFFERENT = 0.6
"""Nats; the largest possible divergence is ln 2 = 0.69."""


def permutation_lines(measured: Iterable[Measured], labels: Mapping[str, Sequence[str]]) -> list[PermutationLine]:
    """By predicted class and over all: every example, and by the range of its largest weight."""
    return [
        line
        for one in measured
        if MOVED in one.columns
        for predicted in (None, *one.classes(labels[one.task]))
        for line in _permutations(one, predicted, "" if predicted is None else labels[one.task][predicted])
    ]


def divergence_lines(
    measured: Iterable[Measured],
    labels: Mapping[str, Sequence[str]],
    published: Mapping[tuple[str, str, int | None], PublishedDivergence],
) -> list[DivergenceLine]:
    """Each profile, over all examples and by predicted class; published numbers beside the profile of the code."""
    return [line for one in measured for line in _divergences(one, labels[one.task], published)]


def in_bin(largest: Float[ndarray, "*shape"], low: float, high: float) -> Float[ndarray, "*shape"]:
    """Which largest weights lie in a range of `BINS`."""
    with np.errstate(invalid="ignore"):
        return (largest >= low) & ((largest < high) | (high == 1.0))


def _permutations(one: Measured, predicted: int | None, label: str) -> Iterator[PermutationLine]:
    # Of every example in every seed, as a published distribution is of one run: means over seeds would be narrower.
    moved, largest = one.of_class(MOVED, predicted), one.of_class(LARGEST, predicted)
    for low, high in ((0.0, 1.0), *BINS):
        own = moved[in_bin(largest, low, high) & np.isfinite(moved)]
        if len(own):
            yield PermutationLine(
                task=one.task,
                model=one.model,
                label=label,
                low=low,
                high=high,
                n=len(own),
                median=resampling.rounded(np.median(own)),
                share_small=resampling.rounded((own < SMALL).mean()),
            )


def _divergences(
    one: Measured, labels: Sequence[str], published: Mapping[tuple[str, str, int | None], PublishedDivergence]
) -> Iterator[DivergenceLine]:
    wanted = [
        (profile, predicted)
        for profile, probe in PROFILES.items()
        if f"{probe}-max-jsd" in one.columns
        for predicted in (None, *one.classes(labels))
    ]
    if not wanted:
        return
    values = np.stack([one.mean(f"{PROFILES[profile]}-max-jsd", predicted) for profile, predicted in wanted], 1)
    low, high = mean_intervals(values)
    for at, (profile, predicted) in enumerate(wanted):
        means = values[:, at][np.isfinite(values[:, at])]
        if not len(means):
            continue
        every = one.of_class(f"{PROFILES[profile]}-max-jsd", predicted)
        every = every[np.isfinite(every)]
        accepted = one.of_class(f"{PROFILES[profile]}-accepted", predicted)
        known = published.get((published_task(one.task), one.model, predicted)) if profile == "code-2019" else None
        yield DivergenceLine(
            task=one.task,
            model=one.model,
            profile=profile,
            predicted=predicted,
            label="" if predicted is None else labels[predicted],
            n=len(means),
            mean=resampling.rounded(means.mean()),
            low=resampling.rounded(low[at]),
            high=resampling.rounded(high[at]),
            median=resampling.rounded(np.median(every)),
            share=resampling.rounded((every >= DIFFERENT).mean()),
            accepted=resampling.rounded(np.nanmean(accepted)),
            published_mean=known.mean if known else None,
            published_median=known.median if known else None,
            published_share=known.share if known else None,
        )
