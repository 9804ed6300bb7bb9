"""Lines that every reproduction has: what was run, and which figures were drawn."""

from __future__ import annotations

from dataclasses import dataclass, field

from faithboard.records import _Json


@dataclass(frozen=True)
class SuiteLine(_Json):
    """What was run."""

    name: str
    version: int
    seeds: list[int]
    description: str
    notes: list[str] = field(default_factory=list)
    made_of: str = ""
    """Hash of the results and of the code behind the lines: they are not made twice."""


@dataclass(frozen=True)
class FigureLine(_Json):
    """A figure that was drawn; the page shows it."""

    name: str
    """Of the file, without its ending."""
    title: str
    caption: str
