"""The committed leaderboards are what their committed lines generate: nobody edited a figure by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from faithboard import report
from faithboard.report.files import BLOCK, ROWS
from faithboard.report.markdown import begin

ROOT = Path(__file__).parents[1] / "leaderboards"
FOLDERS = sorted(path.parent for path in ROOT.glob(f"*/{ROWS}"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_page_regenerates_exactly_and_none_is_left_over(folder: Path) -> None:
    pages = report.pages(report.read(folder), folder)
    for path, text in pages.items():
        assert path.is_file(), f"{path} is missing; `faithboard report` writes it"
        assert path.read_text(encoding="utf-8") == text, f"{path} was edited; `faithboard report` writes it anew"
    generated = {path for path in folder.glob("*.md") if begin(BLOCK) in path.read_text(encoding="utf-8")}
    assert generated == set(pages), "pages that these lines do not have"
