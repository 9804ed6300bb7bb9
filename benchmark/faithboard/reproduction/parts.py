"""Parts of a page that every reproduction has. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from faithboard.report import markdown
from faithboard.reproduction.lines import FigureLine, SuiteLine


def signed(value: float | None) -> str:
    """A difference, with its sign."""
    return markdown.NOTHING if value is None else f"{value:+.3f}"


def title(name: str, paper: str, suite: SuiteLine) -> str:
    """The heading, what was run, and what has to be said about it."""
    seeds = ", ".join(map(str, suite.seeds))
    lines = [f"# {name}", "", f"{paper} Suite {suite.name} v{suite.version}; seeds {seeds}. {suite.description}"]
    return "\n".join(lines + [f"- note: {markdown.plain(note)}" for note in suite.notes])


def figures(lines: Sequence[FigureLine], folder: str) -> Iterator[str]:
    """The figures with their captions; nothing where none was drawn. `folder` is relative to the page."""
    if not lines:
        return
    yield "## Figures"
    for one in lines:
        place = f"{folder}/{one.name}"
        yield f"### {one.title}\n\n![{one.title}]({place}.png)\n\n{one.caption} ([SVG]({place}.svg))"
