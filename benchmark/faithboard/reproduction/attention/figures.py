"""The figures of a reproduction, drawn with matplotlib (the extra `figures`). One function makes one figure.

Distributions are over every (example, seed), as a published one is over the examples of its one run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from faithboard.reproduction.attention.claims import AVERAGE, BILSTM
from faithboard.reproduction.attention.comparing import published_task
from faithboard.reproduction.attention.lines import HeatmapLine
from faithboard.reproduction.attention.measured import Measured
from faithboard.reproduction.attention.outputs import BINS, LARGEST, MOVED, PROFILES, in_bin
from faithboard.reproduction.lines import FigureLine
from faithboard.reproduction.style import COLOURS, GREY, Panels, density, save, words

if TYPE_CHECKING:
    from jaxtyping import Float
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy import ndarray

ENCODERS = {BILSTM: "BiLSTM", "cnn-additive": "CNN", AVERAGE: "Average"}
LIMIT = math.log(2)
JSD = f"{PROFILES['code-2019']}-max-jsd"
Labels = Mapping[str, Sequence[str]]


def draw(
    measured: Sequence[Measured],
    heatmaps: Sequence[HeatmapLine],
    labels: Labels,
    published: Mapping[tuple[str, str, int | None], float],
    folder: Path,
) -> list[FigureLine]:
    """Draw everything that there are values for, as SVG and PNG into `folder`, and say what was drawn.

    `published` are means of the largest divergence by (task of the paper, model, predicted class or None). Raises
    ImportError without matplotlib.
    """
    additive = [one for one in measured if one.model in ENCODERS]
    bilstm = [one for one in additive if one.model == BILSTM]
    pairs = {"attention-gradient": "attention and gradient", "attention-loo": "attention and leave-one-out"}
    asked: list[tuple[FigureLine, Callable[[], Figure]]] = []
    if additive:
        for pair, said in pairs.items():
            asked.append(
                (
                    FigureLine(
                        f"tau-{pair}",
                        f"Kendall tau between {said}",
                        "By predicted class, additive attention. A dotted line marks 0, a tick the mean of a class.",
                    ),
                    lambda pair=pair: correlations(additive, labels, pair),  # type: ignore[misc]
                )
            )
    if bilstm:
        asked += [
            (
                FigureLine(
                    "differences",
                    "Differences of correlation between the three pairs",
                    "Per text, BiLSTM with additive attention. Right of 0 the first pair agrees more than the second.",
                ),
                lambda: differences(bilstm),
            ),
            (
                FigureLine(
                    "permutation",
                    "Change of the output when attention is shuffled",
                    "Median over 100 permutations of the total variation distance, by the largest attention weight; "
                    "BiLSTM with additive attention. The bar in a violin is its median; fewer than five are dots.",
                ),
                lambda: permutations(bilstm, labels),
            ),
            (
                FigureLine(
                    "max-jsd",
                    "Largest divergence of an attention that keeps the output",
                    "Jensen-Shannon divergence in nats (at most 0.69), by predicted class; BiLSTM with additive "
                    "attention, constants of the published code. A dashed line is the published mean.",
                ),
                lambda: divergences(bilstm, labels, published),
            ),
        ]
    if heatmaps:
        asked.append(
            (
                FigureLine(
                    "attention-examples",
                    "Attention, and the most different attention that keeps the output",
                    "Of each predicted class the text of 8 to 20 words with the largest divergence under the constants "
                    "of the paper: the output moves by at most 0.01.",
                ),
                lambda: examples(heatmaps),
            )
        )
    drawn = []
    for line, make in asked:
        save(make(), folder, line.name)
        drawn.append(line)
    return drawn


def correlations(measured: Sequence[Measured], labels: Labels, pair: str) -> Figure:
    """Histograms of tau by predicted class: a row per task, a column per encoder."""
    tasks = list(dict.fromkeys(one.task for one in measured))
    models = [model for model in ENCODERS if any(one.model == model for one in measured)]
    panels = Panels(len(tasks), len(models), height=1.5, width=3.0)
    of = {(one.task, one.model): one for one in measured}
    bins = np.linspace(-1, 1, 41)
    for row, task in enumerate(tasks):
        for column, model in enumerate(models):
            axes = panels.axes(row, column)
            if row == 0:
                panels.title(axes, ENCODERS[model])
            if (task, model) not in of:
                axes.text(0.5, 0.5, "not run", ha="center", va="center", transform=axes.transAxes, color=GREY)
                continue
            one = of[task, model]
            for label, colour, values in _by_class(one, f"tau-{pair}", labels):
                axes.hist(values, bins=bins.tolist(), density=True, color=colour, alpha=0.55, label=label)
                axes.plot([values.mean()] * 2, [0, 0.12], transform=axes.get_xaxis_transform(), color=colour, lw=2.5)
            axes.axvline(0, color=GREY, lw=0.8, ls=":")
            axes.set_xlim(-1, 1)
            if column == 0:
                axes.set_ylabel(task)
            if column == len(models) - 1:
                panels.legend(axes)
    return panels.finished("Kendall tau", "density of texts")


def differences(measured: Sequence[Measured]) -> Figure:
    """Densities of the differences of tau between pairs, a panel per task."""
    shown = {
        "gradient/LOO - attention/gradient": ("gradient-loo", "attention-gradient"),
        "gradient/LOO - attention/LOO": ("gradient-loo", "attention-loo"),
        "attention/gradient - attention/LOO": ("attention-gradient", "attention-loo"),
    }
    panels = Panels.for_many(len(measured))
    grid = np.linspace(-1.5, 1.5, 301)
    for at, one in enumerate(measured):
        axes = panels.at(at)
        panels.title(axes, one.task)
        axes.axvline(0, color=GREY, lw=0.8, ls=":")
        for colour, (name, (first, second)) in zip(COLOURS, shown.items(), strict=False):
            values = _finite(one.columns[f"tau-{first}"] - one.columns[f"tau-{second}"])
            curve = density(values, grid)
            axes.plot(grid, curve, color=colour, lw=1.6, label=name)
            axes.fill_between(grid, curve, color=colour, alpha=0.12)
        axes.set_xlim(-1.2, 1.2)
        axes.set_ylim(bottom=0)
    panels.shared_legend(panels.at(0))
    return panels.finished("difference of tau", "density of texts")


def permutations(measured: Sequence[Measured], labels: Labels) -> Figure:
    """Violins of the median change, four ranges of the largest weight, side by side by class; a panel per task."""
    panels = Panels.for_many(len(measured))
    for at, one in enumerate(measured):
        axes = panels.at(at)
        panels.title(axes, one.task)
        classes = _by_class(one, MOVED, labels, keep_shape=True)
        width = 0.8 / max(1, len(classes))
        for place, (label, colour, moved) in enumerate(classes):
            offset = (place - (len(classes) - 1) / 2) * width
            axes.plot([], [], color=colour, lw=6, alpha=0.55, label=label)
            for number, (low, high) in enumerate(BINS):
                own = _finite(np.where(in_bin(one.columns[LARGEST], low, high), moved, np.nan))
                _violin(axes, own, number + offset, width * 0.92, colour)
        axes.set_xticks(range(len(BINS)), [f"{low:g}-{high:g}" for low, high in BINS])
        axes.set_xlim(-0.5, len(BINS) - 0.5)
        axes.set_ylim(-0.03, 1.03)
        panels.legend(axes)
    return panels.finished("largest attention weight", "median change of the output")


def divergences(
    measured: Sequence[Measured], labels: Labels, published: Mapping[tuple[str, str, int | None], float]
) -> Figure:
    """Histogram and density of the largest divergence by class, a panel per task."""
    panels = Panels.for_many(len(measured))
    bins, grid = np.linspace(0, 0.7, 36), np.linspace(0, 0.7, 281)
    for at, one in enumerate(measured):
        axes = panels.at(at)
        panels.title(axes, one.task)
        for label, colour, values in _by_class(one, JSD, labels):
            axes.hist(values, bins=bins.tolist(), density=True, color=colour, alpha=0.4, label=label)
            axes.plot(grid, density(values, grid), color=colour, lw=1.6)
            predicted = labels[one.task].index(label) if label in labels[one.task] else None
            theirs = published.get((published_task(one.task), one.model, predicted))
            if theirs is not None:
                axes.axvline(theirs, color=colour, lw=1.2, ls="--")
        axes.axvline(LIMIT, color=GREY, lw=0.8, ls=":")
        axes.set_xlim(0, 0.72)
        panels.legend(axes, "upper left")
    return panels.finished("largest JS divergence (nats)", "density of texts")


def examples(lines: Sequence[HeatmapLine]) -> Figure:
    """Words shaded by attention, above them the model's own, below the adversarial."""
    rows = []
    for line in lines:
        rows.append((f"{line.task}, predicted {line.predicted}: attention of the model", line.words, line.attention))
        said = f"adversarial: divergence {line.divergence:.3f}, the output moves by {line.distance:.4f}"
        rows.append((said, line.words, line.adversarial))
    return words(rows)


def _violin(axes: Axes, values: Float[ndarray, "value"], place: float, width: float, colour: str) -> None:
    if len(values) < 5 or np.ptp(values) == 0:
        axes.plot(np.full(len(values), place), values, ".", color=colour, ms=3, alpha=0.7)
        return
    # A violin shall not reach beyond its values: they are distances.
    grid = np.linspace(values.min(), values.max(), 120)
    shape = density(values, grid)
    half = shape / shape.max() * width / 2
    axes.fill_betweenx(grid, place - half, place + half, color=colour, alpha=0.55, lw=0)
    middle = float(np.median(values))
    axes.plot([place - width / 4, place + width / 4], [middle, middle], color=colour, lw=2)


def _by_class(
    one: Measured, column: str, labels: Labels, *, keep_shape: bool = False
) -> list[tuple[str, str, Float[ndarray, "..."]]]:
    """(class, colour, its defined values) of each predicted class; of a task with many, all as one."""
    if column not in one.columns:
        return []
    classes: list[int | None] = [*one.classes(labels[one.task])] or [None]
    found = []
    for colour, label in zip(COLOURS, classes, strict=False):
        values = one.of_class(column, label)
        if np.isfinite(values).any():
            name = "all" if label is None else labels[one.task][label]
            found.append((name, colour, values if keep_shape else _finite(values)))
    return found


def _finite(values: Float[ndarray, "..."]) -> Float[ndarray, "value"]:
    return values[np.isfinite(values)]
