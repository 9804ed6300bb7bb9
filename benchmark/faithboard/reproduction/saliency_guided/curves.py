"""The curves behind the values: what each share of the words does, mean over texts and seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from faithboard.reproduction.saliency_guided.comparing import METHODS, METRICS, RANDOM
from faithboard.reproduction.saliency_guided.lines import CurveLine
from faithboard.reproduction.saliency_guided.measured import Measured
from faithboard.stats import resampling

CURVES = ("comprehensiveness-paper", "comprehensiveness", "sufficiency-paper", "sufficiency")
"""Rows with the points of a curve; those of the paper's profile also have the text without a word."""


def curve_lines(group: Sequence[Measured]) -> list[CurveLine]:
    """The curve of every method and training, of the profile with the most points."""
    return [
        line
        for one in group
        for method in (*METHODS, RANDOM)
        for metric in dict.fromkeys(name for name, _ in METRICS.values())
        for line in _curve(one, method, metric)
    ]


def _curve(one: Measured, method: str, metric: str) -> Iterator[CurveLine]:
    for name in CURVES:
        rows = [row for row in one.rows.get((method, name), ()) if row.curve]
        if METRICS[name][0] != metric or not rows:
            continue
        mean, low, high = (
            [resampling.rounded(point) for point in np.mean(curves, axis=0)]
            for curves in zip(*((row.curve, row.curve_low, row.curve_high) for row in rows), strict=True)
        )
        yield CurveLine(
            task=one.task,
            model=one.model,
            training=one.training,
            method=method,
            metric=metric,
            points=list(rows[0].points),
            curve=mean,
            low=low,
            high=high,
        )
        return
