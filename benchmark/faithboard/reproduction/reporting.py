"""What the reports of all reproductions do alike: lines are made once, written, and read when nothing has changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faithboard.errors import FaithboardError
from faithboard.reproduction.files import Form, read, write
from faithboard.reproduction.lines import FigureLine
from faithboard.reproduction.stored import made_of

if TYPE_CHECKING:
    from faithboard.plan import Plan
    from faithboard.store import Store

KINDS_OF_FIGURE = ("svg", "png")
WITHOUT_FIGURES = "no figures are drawn: they need matplotlib (pip install 'faithboard[figures]')"


def reported(
    form: Form,
    package: Path,
    plan: Plan,
    store: Store,
    folder: Path,
    make: Callable[[str], tuple[Any, tuple[str, ...]]],
    beside: Sequence[str] = (),
) -> tuple[Any, Path, tuple[str, ...]]:
    """Lines, page and notes of a reproduction whose lines lie in `folder`.

    `make` gives the lines, with the figures drawn into the folder, and what has to be said about them; it is not called
    when the page is made of the same already. `package` is the folder of the reproduction's code; `beside` holds the
    keys of what takes part and is not of the suite.
    """
    hashed = made_of(plan, store, package, beside)
    notes: tuple[str, ...] = ()
    made = _known(form, folder, hashed)
    if made is None:
        made, notes = make(hashed)
    return made, write(form, made, folder), notes


def drawn(draw: Callable[[], Sequence[FigureLine]]) -> tuple[list[FigureLine], tuple[str, ...]]:
    """The figures that `draw` makes, or a note that they need matplotlib."""
    try:
        return list(draw()), ()
    except ImportError:
        return [], (WITHOUT_FIGURES,)


def _known(form: Form, folder: Path, hashed: str) -> Any | None:
    """What the page was made of when it was the same, and every figure is there; else None."""
    try:
        known = read(form, folder)
    except FaithboardError:
        return None
    files = [folder / f"{figure.name}.{kind}" for figure in known.figures for kind in KINDS_OF_FIGURE]
    same = [line.made_of for line in known.suite] == [hashed]
    return known if same and files and all(path.is_file() for path in files) else None
