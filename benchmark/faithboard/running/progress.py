"""How a long computation tells what it is doing. The engine only calls this; what is shown is the caller's choice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int], None]


class Progress:
    """Says nothing. The command line has one that prints lines and draws bars on a terminal."""

    def say(self, text: str) -> None:
        """One line about something that was done or decided."""

    @contextmanager
    def bar(self, title: str, total: int) -> Iterator[Advance]:
        """A bar of `total` steps; the block is given the function that advances it."""
        yield lambda steps: None
