"""The committed pages are what their committed lines generate: nobody edited a figure by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from faithboard.reproduction import REPRODUCTIONS
from faithboard.reproduction.files import FOLDER, page_of, read

ROOT = Path(__file__).parents[2] / "leaderboards" / FOLDER


@pytest.mark.parametrize("name", [name for name in REPRODUCTIONS if (ROOT / name).is_dir()])
def test_every_committed_page_regenerates_exactly(name: str) -> None:
    folder = ROOT / name
    form = REPRODUCTIONS[name].form
    path, text = page_of(form, folder)
    assert path.read_text(encoding="utf-8") == text, f"{path} was edited; `faithboard reproduce` writes it anew"
    for figure in getattr(read(form, folder), "figures", ()):
        for kind in ("svg", "png"):
            assert (folder / f"{figure.name}.{kind}").is_file()
