"""Pairs of methods on the same examples and weights: against the random baseline, and what tells none apart."""

from __future__ import annotations

from faithboard.report import markdown
from faithboard.report.layout import Grid
from faithboard.report.markdown import with_interval
from faithboard.stats.board import Board, Comparison, Table
from faithboard.stats.entries import BASELINE
from faithboard.stats.resampling import LEVEL

NOT_IN_EVERY_SEED = "p <= 0.05, but not in every seed"
"""Of a pair that the test over examples tells apart, while the difference is 0 or of the other sign in a seed."""


def outcome(better: str, p: float) -> str:
    """The better of two methods, or why neither is. `p` is adjusted."""
    if better:
        return f"`{better}`"
    return NOT_IN_EVERY_SEED if p <= LEVEL else "not told apart"


def not_in_every_seed(board: Board, table: Table, metric: str) -> list[Comparison]:
    """The pairs of a metric that the test over examples tells apart and some seed does not."""
    pairs = (pair for pair in board.comparisons if (pair.table, pair.metric) == (table.key, metric))
    return [pair for pair in pairs if not pair.better and pair.p_holm <= LEVEL]


def behind(board: Board, grid: Grid, metric: str) -> set[str]:
    """The methods that another one is better than at p <= 0.05, but not in every seed."""
    better = grid.column(metric)[0].better
    return {
        pair.b if (pair.difference > 0) == (better == "higher") else pair.a
        for pair in not_in_every_seed(board, grid.table, metric)
    }


def undecided(board: Board, grid: Grid) -> list[str]:
    """One line that counts such pairs in each metric of a grid; none where there are none."""
    counts = {metric: len(not_in_every_seed(board, grid.table, metric)) for metric in grid.metrics}
    said = ", ".join(f"{metric} {count:,}" for metric, count in counts.items() if count)
    return [f"Pairs with {NOT_IN_EVERY_SEED}, which no rank tells apart: {said}."] if said else []


def against_random(board: Board, grid: Grid) -> str:
    """A folded table of the paired difference of each method to the random baseline; empty where there is none."""
    pairs = [pair for pair in board.comparisons if pair.table == grid.table.key and BASELINE in (pair.a, pair.b)]
    rows = []
    for metric in grid.metrics:
        found = {
            other: pair for pair in pairs if pair.metric == metric for other in (pair.a, pair.b) if other != BASELINE
        }
        rows += [_paired(metric, method, found[method]) for method in grid.methods if method in found]
    if not rows:
        return ""
    headers = ("metric", "method", f"difference to {BASELINE}", "wins / ties / losses", "p (Holm)", "better")
    body = markdown.table(headers, rows, right=(3, 4))
    return markdown.folded(f"Every method against <code>{BASELINE}</code>, paired", body)


def _paired(metric: str, method: str, pair: Comparison) -> tuple[str, ...]:
    turned = pair.a == BASELINE
    difference, low, high = (
        (-pair.difference, -pair.high, -pair.low) if turned else (pair.difference, pair.low, pair.high)
    )
    wins, losses = (pair.losses, pair.wins) if turned else (pair.wins, pair.losses)
    return (
        metric,
        f"`{method}`",
        with_interval(difference, low, high),
        f"{wins:,} / {pair.ties:,} / {losses:,}",
        markdown.p_value(pair.p_holm),
        outcome(pair.better, pair.p_holm),
    )
