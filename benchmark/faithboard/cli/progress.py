"""Progress on a terminal: lines that stay, bars that go. Into a file or a pipe only the lines are written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import rich.progress
from rich.console import Console

from faithboard.running.progress import Advance, Progress


class TerminalProgress(Progress):
    """Lines and bars on standard error, so that standard output holds results alone."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, highlight=False, soft_wrap=True)

    def say(self, text: str) -> None:
        self.console.print(text, markup=False)

    @contextmanager
    def bar(self, title: str, total: int) -> Iterator[Advance]:
        columns = (
            rich.progress.TextColumn("{task.description}", markup=False),
            rich.progress.BarColumn(bar_width=24),
            rich.progress.MofNCompleteColumn(),
            rich.progress.TimeElapsedColumn(),
        )
        quiet = not self.console.is_terminal
        with rich.progress.Progress(*columns, console=self.console, transient=True, disable=quiet) as shown:
            task = shown.add_task(title, total=total)
            yield lambda steps: shown.advance(task, steps)
