"""The figures of this reproduction, drawn with matplotlib (the extra `figures`): curves over the shares of words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from faithboard.reproduction.lines import FigureLine
from faithboard.reproduction.saliency_guided.comparing import BETTER, METHODS, RANDOM, STANDARD, TRAININGS
from faithboard.reproduction.saliency_guided.lines import CurveLine
from faithboard.reproduction.style import COLOURS, GREY, Panels, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOUR = dict(zip(TRAININGS, COLOURS, strict=True))
NAMES = {"gradient-l2": "Gradient", "integrated-gradients": "Integrated gradients", "smoothgrad": "SmoothGrad"}
DONE = {"comprehensiveness": "removed", "sufficiency": "kept"}


def draw(curves: Sequence[CurveLine], folder: Path) -> list[FigureLine]:
    """One figure for each method that there is a curve of, as SVG and PNG into `folder`; says what was drawn.

    Raises ImportError without matplotlib.
    """
    lines = []
    for method in METHODS:
        own = [line for line in curves if line.method in (method, RANDOM)]
        if not any(line.method == method for line in own):
            continue
        line = FigureLine(
            f"curves-{method}",
            f"{NAMES[method]}: comprehensiveness and sufficiency by training",
            "What the predicted class's probability loses without the top words (left: higher is better) and with them "
            "alone (right: lower is better), by the share of the words; mean over texts and seeds. Dashed: a random "
            "order on the same models, grey its 95 % band under standard training.",
        )
        save(by_training(own, method), folder, line.name)
        lines.append(line)
    return lines


def by_training(curves: Sequence[CurveLine], method: str) -> Figure:
    """A row per task and model, a column per metric, a line per training."""
    places = list(dict.fromkeys((line.task, line.model) for line in curves if line.method == method))
    models = {model for _, model in places}
    panels = Panels(len(places), len(BETTER), height=2.1, width=3.6)
    for row, (task, model) in enumerate(places):
        for column, metric in enumerate(BETTER):
            axes = panels.axes(row, column)
            place = task if len(models) == 1 else f"{task}, {model}"
            panels.title(axes, f"{place}: {metric}")
            for line in curves:
                if (line.task, line.model, line.metric) == (task, model, metric):
                    _line(axes, line)
            axes.set_xlabel(f"share of the words {DONE[metric]}", fontsize=8)
    panels.shared_legend(panels.axes(0, 0))
    return panels.finished("", "loss of probability")


def _line(axes: Axes, line: CurveLine) -> None:
    # Shares grow from 1 to 50 %: at equal distances the small ones, which matter most, can be told apart.
    at = range(len(line.points))
    if line.method == RANDOM:
        axes.plot(at, line.curve, color=COLOUR[line.training], lw=1.0, ls="--", alpha=0.8)
        if line.training == STANDARD:
            axes.fill_between(at, line.low, line.high, color=GREY, alpha=0.25, lw=0, label="random (standard)")
    else:
        axes.plot(at, line.curve, color=COLOUR[line.training], lw=1.7, marker="o", ms=3, label=line.training)
    axes.set_xticks(list(at), line.points)
