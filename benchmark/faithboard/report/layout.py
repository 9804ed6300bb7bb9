"""In which order methods and metrics stand in a table, shared by the Markdown and the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from faithboard.report.markdown import NOTHING, scientific, with_interval
from faithboard.stats.board import Board, Cost, Standing, Table
from faithboard.task import SPLITS

UNVERIFIED = "UNVERIFIED DATA"
_DELETION = ("comprehensiveness", "sufficiency")
_FIRST = ("precision@k", "mean-rank", "auprc", "token-f1", "iou-f1", *_DELETION)
TAIL = "95th percentile"
"""The point that stands beside a median."""
_ARROWS = {"higher": " ↑", "lower": " ↓", "neither": ""}


@dataclass(frozen=True)
class Grid:
    """Standings of one table as methods x metrics. The first metric leads: it decides the order of the methods."""

    table: Table
    methods: tuple[str, ...]
    metrics: tuple[str, ...]
    cells: dict[tuple[str, str], Standing]
    """(method, metric) -> standing; not every method need have every metric."""
    costs: dict[str, Cost]
    """Method -> cost."""

    def column(self, metric: str) -> list[Standing]:
        """The standings of a metric, in the order of the methods."""
        return [self.cells[method, metric] for method in self.methods if (method, metric) in self.cells]

    def header(self, metric: str) -> str:
        """The metric with an arrow to its better end."""
        return metric + _ARROWS[self.column(metric)[0].better]

    def rank(self, method: str, metric: str) -> str:
        """`1`, or `2=` where another method has the same rank."""
        rank = self.cells[method, metric].rank if (method, metric) in self.cells else None
        if rank is None:
            return NOTHING
        return f"{rank}=" if sum(other.rank == rank for other in self.column(metric)) > 1 else str(rank)

    def value(self, method: str, metric: str) -> str:
        """`0.412 [0.380, 0.444]`, a median with its tail, or the status of a row that has no value."""
        cell = self.cells.get((method, metric))
        if cell is None:
            return NOTHING
        if cell.value is None:
            return cell.status if cell.status != "ok" else NOTHING
        return _median(cell) if self.of_median(metric) else with_interval(cell.value, cell.low, cell.high)

    def of_median(self, metric: str) -> bool:
        """Whether the values are medians: shown with their tail, and never ranked."""
        return self.column(metric)[0].statistic == "median"


def _median(cell: Standing) -> str:
    """`4.4e-08 (95th: 1.6e-07)`."""
    assert cell.value is not None
    tail = dict(zip(cell.points, cell.curve, strict=False)).get(TAIL)
    beside = "" if tail is None else f" ({TAIL.removesuffix(' percentile')}: {scientific(tail)})"
    return f"{scientific(cell.value)}{beside}"


def faithfulness(board: Board, table: Table) -> Grid:
    """Erasure metrics, with the model as it is or retrained, and on planted tasks the known truth, which then leads."""
    kinds = ("erasure", "retraining", *(["rationale"] if table.known_truth else []))
    return _grid(board, table, (s for s in _of(board, table) if s.metric_kind in kinds))


@dataclass(frozen=True)
class Part:
    """Metrics of faithfulness that stand in a table of their own: all of them in one would be too wide to read."""

    title: str
    holds: Callable[[Standing], bool]
    folded: bool = False
    """Whether a reader must open it."""


def parts(board: Board, table: Table) -> list[tuple[Part, Grid]]:
    """The grid of faithfulness in parts, the leading metric in the first."""
    of: dict[str, list[Standing]] = {part.title: [] for part in PARTS}
    for standing in faithfulness(board, table).cells.values():
        of[next(part.title for part in PARTS if part.holds(standing))].append(standing)
    return [(part, _grid(board, table, of[part.title])) for part in PARTS if of[part.title]]


PARTS = (
    Part("Known truth", lambda one: one.metric_kind == "rationale"),
    Part("Comprehensiveness and sufficiency, by deletion", lambda one: one.metric in _DELETION),
    Part(
        "Comprehensiveness by other operators and profiles",
        lambda one: one.metric.startswith("comprehensiveness-"),
        folded=True,
    ),
    Part("Sufficiency by other operators and profiles", lambda one: one.metric.startswith("sufficiency-"), folded=True),
    Part("After retraining", lambda one: one.metric_kind == "retraining"),
    Part("Decisions, normalised values and other erasure", lambda one: True),
)


def beside_order(board: Board, table: Table) -> Grid:
    """Metrics of the scores themselves rather than of the order they give: as amounts, and under noise."""
    return _grid(board, table, (s for s in _of(board, table) if s.metric_kind in ("amounts", "sensitivity")))


def plausibility(board: Board, table: Table) -> Grid:
    """Agreement with what people marked: no part of faithfulness, so a grid of its own."""
    return _grid(board, table, (s for s in _of(board, table) if s.metric_kind == "rationale" and not table.known_truth))


def methods(board: Board, table: Table) -> list[str]:
    """All methods of a table, the best first."""
    grids = (faithfulness(board, table), plausibility(board, table))
    return list(dict.fromkeys(method for grid in grids for method in grid.methods))


def task_name(board: Board, table: Table) -> str:
    """The task, with its version where the board holds several of them."""
    versions = {other.task_version for other in board.tables if other.task == table.task}
    return f"{table.task} v{table.task_version}" if len(versions) > 1 else table.task


def model_name(board: Board, table: Table) -> str:
    """`planted, bilstm-additive, standard`, with what must be said of its data."""
    said = reservations(table)
    return f"{task_name(board, table)}, {table.model}, {table.training}{f' ({said})' if said else ''}"


def unverified(table: Table) -> bool:
    """True when the content of the data is none that the task knows."""
    return table.fingerprint_name == "unverified"


def reservations(table: Table) -> str:
    """What must stand beside every figure of a table: unverified data, splits smaller than the published ones."""
    splits, published = table.data.get("splits", {}), table.data.get("published_rows", {})
    smaller = [
        f"{split} {splits[split]['here']:,} of {published[split]:,} published rows"
        for split in SPLITS
        if split in splits and splits[split]["here"] < published.get(split, 0)
    ]
    return "; ".join([UNVERIFIED] * unverified(table) + smaller)


def _of(board: Board, table: Table) -> Iterable[Standing]:
    return (s for s in board.standings if s.table == table.key)


def _grid(board: Board, table: Table, standings: Iterable[Standing]) -> Grid:
    cells = {(standing.method, standing.metric): standing for standing in standings}
    medians = {metric: standing.statistic == "median" for (_, metric), standing in cells.items()}
    first = [metric for metric in _FIRST if metric in medians]
    # A median ranks nothing, so it leads only where it is alone.
    others = sorted(set(medians) - set(first), key=lambda metric: (medians[metric], metric))
    metrics = (*first, *others)

    def place(method: str) -> tuple[float, float, str]:
        leading = cells.get((method, metrics[0]))
        if leading is None or leading.value is None:
            return math.inf, math.inf, method
        value = -leading.value if leading.better == "higher" else leading.value
        return math.inf if leading.rank is None else leading.rank, value, method

    costs = {cost.method: cost for cost in board.costs if cost.table == table.key}
    return Grid(table, tuple(sorted({method for method, _ in cells}, key=place)), metrics, cells, costs)
