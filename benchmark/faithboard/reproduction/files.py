"""A reproduction as files: a Markdown page, and beside it the JSON lines that it is a pure function of.

    leaderboards/reproduction/<name>.md              the page
    leaderboards/reproduction/<name>/<part>.jsonl    its lines: models, taus, evidence, ...
    leaderboards/reproduction/<name>/*.png, *.svg    figures

Everything generated stands between markers; what people write around them stays.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from faithboard.errors import FaithboardError, StoreError
from faithboard.records import _Json
from faithboard.report import markdown
from faithboard.reproduction.lines import (
    DatasetLine,
    DivergenceLine,
    EvidenceLine,
    FigureLine,
    HeatmapLine,
    LengthLine,
    ModelLine,
    PermutationLine,
    Reproduction,
    SuiteLine,
    TauLine,
)
from faithboard.reproduction.page import page
from faithboard.store import write_atomically

BLOCK = "reproduction"
"""Name of the generated block of a page."""
FOLDER = "reproduction"
"""Below the folder of leaderboards."""

KINDS: dict[str, type[_Json]] = {
    "suite": SuiteLine,
    "models": ModelLine,
    "datasets": DatasetLine,
    "taus": TauLine,
    "lengths": LengthLine,
    "permutations": PermutationLine,
    "divergences": DivergenceLine,
    "evidence": EvidenceLine,
    "heatmaps": HeatmapLine,
    "figures": FigureLine,
}
"""Part of a reproduction -> its lines."""


def lines_folder(root: Path, name: str) -> Path:
    """Where the lines and figures of a reproduction lie below a folder of leaderboards."""
    return root / FOLDER / name


def page_of(folder: Path) -> tuple[Path, str]:
    """The page that belongs to a folder of lines, and its full text as `write` would leave it.

    Raises FaithboardError for lines or markers that are broken.
    """
    return _page(read(folder), folder)


def write(reproduction: Reproduction, folder: Path) -> Path:
    """Write page and lines, each atomically; returns the page. Raises FaithboardError for broken markers before
    anything is written, and StoreError for a folder that cannot be."""
    path, text = _page(reproduction, folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder} cannot be made ({error.strerror}); choose another with --leaderboards") from error
    for part in KINDS:
        lines = getattr(reproduction, part)
        _write(
            folder / f"{part}.jsonl",
            "".join(f"{json.dumps(line.to_json(), ensure_ascii=False, allow_nan=False)}\n" for line in lines),
        )
    _write(path, text)
    return path


def read(folder: Path) -> Reproduction:
    """The reproduction whose lines lie in a folder. Raises FaithboardError naming a file or line that is broken."""
    assert set(KINDS) == {field.name for field in fields(Reproduction)}
    return Reproduction(**{part: _lines(folder / f"{part}.jsonl", kind) for part, kind in KINDS.items()})


def _page(reproduction: Reproduction, folder: Path) -> tuple[Path, str]:
    path = folder.with_name(f"{folder.name}.md")
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    return path, markdown.with_block(before, BLOCK, page(reproduction, folder.name), str(path))


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
