"""How figures look: panels of one size, colours that all eyes tell apart, the same bytes for the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import gaussian_kde

from faithboard.store import write_atomically

if TYPE_CHECKING:
    from jaxtyping import Float
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy import ndarray

COLOURS = ("#0072B2", "#D55E00", "#009E73")
"""Blue, vermilion, green (Okabe & Ito 2008)."""
GREY = "#666666"
NARROW = 0.7
"""Of Scott's width of a kernel, which is made for one hill and flattens two."""
LOOK: dict[str, Any] = {
    "font.size": 8.5,
    "axes.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#999999",
    "axes.titleweight": "bold",
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    # Otherwise ids in an SVG are drawn anew each time.
    "svg.hashsalt": "faithboard",
}


@dataclass
class Panels:
    """A grid of panels that share the names of their axes."""

    rows: int
    columns: int
    height: float = 2.2
    width: float = 3.0
    """Inches of one panel."""
    figure: Figure = field(init=False)
    grid: Any = field(init=False)

    def __post_init__(self) -> None:
        from matplotlib import rc_context
        from matplotlib.figure import Figure

        with rc_context(LOOK):
            size = (self.columns * self.width + 0.6, self.rows * self.height + 0.7)
            self.figure = Figure(figsize=size, layout="constrained")
            self.grid = self.figure.subplots(self.rows, self.columns, squeeze=False)
        self.used: set[tuple[int, int]] = set()

    @classmethod
    def for_many(cls, count: int) -> Panels:
        """At most three panels beside each other."""
        columns = min(3, max(1, count))
        return cls(-(-count // columns), columns)

    def axes(self, row: int, column: int) -> Axes:
        """One panel. Densities have no scale that would say anything, so their ticks are left out."""
        self.used.add((row, column))
        found: Axes = self.grid[row, column]
        return found

    def at(self, number: int) -> Axes:
        return self.axes(*divmod(number, self.columns))

    def title(self, axes: Axes, text: str) -> None:
        axes.set_title(text, fontsize=9.5, fontweight="bold")

    def legend(self, axes: Axes, place: str = "best") -> None:
        """The names of the classes, where there are several."""
        if axes.get_legend_handles_labels()[1] not in ([], ["all"]):
            axes.legend(loc=place, frameon=False, fontsize=7.5, handlelength=1.2)

    def shared_legend(self, axes: Axes) -> None:
        """One legend above all panels, of what a panel shows."""
        handles, names = axes.get_legend_handles_labels()
        columns = max(1, min(len(names), self.columns))
        self.figure.legend(handles, names, loc="outside upper center", ncols=columns, frameon=False, fontsize=8)

    def finished(self, x: str, y: str) -> Figure:
        """The figure, its axes named and its empty panels gone."""
        for row in range(self.rows):
            for column in range(self.columns):
                axes = self.grid[row, column]
                if (row, column) not in self.used:
                    axes.set_visible(False)
                if "density" in y:
                    axes.set_yticks([])
        self.figure.supxlabel(x, fontsize=9)
        self.figure.supylabel(y, fontsize=9)
        return self.figure


def density(values: Float[ndarray, "value"], grid: Float[ndarray, "point"]) -> Float[ndarray, "point"]:
    """Gaussian kernel density at the points of a grid; zero where the values do not vary."""
    if len(values) < 2 or np.ptp(values) < 1e-9:
        return np.zeros_like(grid)
    return np.asarray(gaussian_kde(values, lambda kde: NARROW * kde.scotts_factor())(grid))


def words(rows: Sequence[tuple[str, Sequence[str], Sequence[float]]]) -> Figure:
    """Lines of words, each shaded by its weight; (title, words, weights) from top to bottom."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    # Widths are estimated from a fixed-pitch font: no text has to be drawn to be measured.
    size, per_letter, gap, line_height, longest = 9, 0.085, 0.09, 0.27, 9.0
    shades = LinearSegmentedColormap.from_list("attention", ["#ffffff", COLOURS[1]])
    placed: list[tuple[float, float, str, float]] = []
    titles: list[tuple[float, str]] = []
    y = 0.1
    for number, (title, line, weights) in enumerate(rows):
        y += 0.22 if number and number % 2 == 0 else 0.0
        titles.append((y, title))
        y += 0.24
        x = 0.1
        for word, weight in zip(line, weights, strict=True):
            width = len(word) * per_letter + gap
            if x + width > longest:
                x, y = 0.1, y + line_height
            placed.append((x, y, word, weight))
            x += width
        y += line_height + 0.06
    figure = Figure(figsize=(longest + 0.2, y + 0.05))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, longest + 0.2)
    axes.set_ylim(y + 0.05, 0)
    axes.set_axis_off()
    for at, title in titles:
        axes.text(0.1, at + 0.1, title, fontsize=8.5, color=GREY, va="center")
    for x, at, word, weight in placed:
        colour = shades(min(1.0, weight))
        box = {"boxstyle": "square,pad=0.18", "facecolor": colour, "edgecolor": "none"}
        ink = "white" if weight > 0.65 else "black"
        # A dollar sign would begin a formula.
        shown = word.replace("$", r"\$")
        axes.text(x + 0.04, at + 0.1, shown, fontsize=size, family="monospace", va="center", color=ink, bbox=box)
    return figure


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write `name.svg` and `name.png`, each atomically. The same figure gives the same bytes."""
    from matplotlib import rc_context

    folder.mkdir(parents=True, exist_ok=True)
    for kind, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
        with rc_context(LOOK):
            write_atomically(
                folder / f"{name}.{kind}",
                lambda path, kind=kind, metadata=metadata: figure.savefig(  # type: ignore[misc]
                    path, format=kind, dpi=130, metadata=metadata, facecolor="white"
                ),
            )
