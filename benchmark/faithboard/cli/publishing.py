"""What a command does with results: show the tables, write the pages, mirror them into MLflow."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import typer

from faithboard import report, tracking
from faithboard.errors import FaithboardError
from faithboard.report.markdown import begin, with_block
from faithboard.results import Results, board_of, results_of
from faithboard.stats.board import Board
from faithboard.store import Store, write_atomically

README_BLOCK = "leaders"
"""Name of the generated block of a README."""


def publish(store: Store, suite: str, leaderboards: Path, *, keep: bool = False) -> tuple[Results, Board]:
    """Print the tables of a suite (as in `quick-v1`), write its pages, and say where everything is.

    With `keep`, what is on the pages and not in the store stays on them.
    """
    results = results_of(store, suite)
    board = board_of(results)
    if keep:
        board = report.with_pages(board, leaderboards)
    pages = report.write(board, leaderboards)
    width = shutil.get_terminal_size((120, 40)).columns
    typer.echo(report.console_table(board, width) if board.standings else report.models_page(board))
    typer.echo("")
    if pages:
        typer.echo(f"leaderboard: {pages[0]}")
    typer.echo(f"results:     {store.root}")
    return results, board


def renew_readme(path: Path, board: Board) -> None:
    """Put the leaders of a board between the markers of a README. Raises FaithboardError when they are not there."""
    before = path.read_text(encoding="utf-8")
    if begin(README_BLOCK) not in before:
        raise FaithboardError(f"{path} has no marker {begin(README_BLOCK)}; put it, and its end, where the table goes")
    after = with_block(before, README_BLOCK, report.readme_block(board), str(path))
    write_atomically(path, lambda temporary: temporary.write_text(after, encoding="utf-8"))


def mirror(store: Store, found: Iterable[tuple[Results, Board]], uri: str) -> str:
    """Sync into MLflow and say what changed. Raises TrackingError; the results in the store are untouched."""
    where = uri or tracking.default_uri(store.root)
    experiments = [
        experiment
        for results, board in found
        for experiment in tracking.experiments_of(board, results.models, results.explanations, results.values)
    ]
    done = tracking.sync(experiments, where)
    changes = f"{done.created} runs logged, {done.replaced} replaced, {done.unchanged} unchanged"
    return f"MLflow:      {where} ({changes}); `faithboard ui` shows them"
