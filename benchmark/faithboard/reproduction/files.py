"""A reproduction as files: a Markdown page, and beside it the JSON lines that it is a pure function of.

    leaderboards/reproduction/<name>.md              the page
    leaderboards/reproduction/<name>/<part>.jsonl    its lines: models, taus, evidence, ...
    leaderboards/reproduction/<name>/*.png, *.svg    figures

Everything generated stands between markers; what people write around them stays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from faithboard.errors import FaithboardError, StoreError
from faithboard.records import _Json
from faithboard.report import markdown
from faithboard.store import write_atomically

BLOCK = "reproduction"
"""Name of the generated block of a page."""
FOLDER = "reproduction"
"""Below the folder of leaderboards."""


@dataclass(frozen=True)
class Form:
    """What a reproduction consists of: the parts of its lines, and the page as a pure function of them."""

    made: type
    """A dataclass whose fields are the parts, each a sequence of lines."""
    kinds: Mapping[str, type[_Json]]
    """Part -> its lines."""
    page: Callable[[Any, str], str]
    """Lines and the folder of the figures, relative to the page -> Markdown, heading included."""

    def __post_init__(self) -> None:
        assert set(self.kinds) == {field.name for field in fields(self.made)}


def lines_folder(root: Path, name: str) -> Path:
    """Where the lines and figures of a reproduction lie below a folder of leaderboards."""
    return root / FOLDER / name


def page_of(form: Form, folder: Path) -> tuple[Path, str]:
    """The page that belongs to a folder of lines, and its full text as `write` would leave it.

    Raises FaithboardError for lines or markers that are broken.
    """
    return _page(form, read(form, folder), folder)


def write(form: Form, made: Any, folder: Path) -> Path:
    """Write page and lines, each atomically; returns the page. Raises FaithboardError for broken markers before
    anything is written, and StoreError for a folder that cannot be."""
    path, text = _page(form, made, folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder} cannot be made ({error.strerror}); choose another with --leaderboards") from error
    for part in form.kinds:
        lines = getattr(made, part)
        _write(
            folder / f"{part}.jsonl",
            "".join(f"{json.dumps(line.to_json(), ensure_ascii=False, allow_nan=False)}\n" for line in lines),
        )
    _write(path, text)
    return path


def read(form: Form, folder: Path) -> Any:
    """The reproduction whose lines lie in a folder: a `form.made`. Raises FaithboardError naming a file or line that
    is broken."""
    return form.made(**{part: read_part(form, folder, part) for part in form.kinds})


def read_part(form: Form, folder: Path, part: str) -> list[Any]:
    """The lines of one part alone. Raises FaithboardError as `read` does."""
    return _lines(folder / f"{part}.jsonl", form.kinds[part])


def _page(form: Form, made: Any, folder: Path) -> tuple[Path, str]:
    path = folder.with_name(f"{folder.name}.md")
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    return path, markdown.with_block(before, BLOCK, form.page(made, folder.name), str(path))


def _lines(path: Path, kind: type[_Json]) -> list[Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FaithboardError(f"{path} cannot be read ({error}); `faithboard reproduce` writes it") from error
    found = []
    # Not splitlines: a word may hold a separator that it takes for the end of a line.
    for at, line in enumerate(text.removesuffix("\n").split("\n") if text else [], 1):
        try:
            found.append(kind.from_json(json.loads(line)))
        except (ValueError, TypeError, AttributeError) as error:
            raise FaithboardError(
                f"{path}, line {at}: not a {kind.__name__} ({error}); `faithboard reproduce` writes it anew"
            ) from error
    return found


def _write(path: Path, text: str) -> None:
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))
