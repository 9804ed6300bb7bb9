"""Methods against the random baseline, on the same examples and weights."""

from __future__ import annotations

from faithboard.report import markdown
from faithboard.report.layout import Grid
from faithboard.report.markdown import with_interval
from faithboard.stats.board import Board, Comparison
from faithboard.stats.entries import BASELINE


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
        f"`{pair.better}`" if pair.better else "not told apart",
    )
