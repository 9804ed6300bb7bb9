"""The committed pages are what their committed lines generate: nobody edited a figure by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from faithboard.report.markdown import end
from faithboard.reproduction import REPRODUCTIONS
from faithboard.reproduction.attention.conditions import far
from faithboard.reproduction.files import BLOCK, FOLDER, page_of, read, read_part

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


def test_what_is_written_by_hand_is_about_the_cells_that_are_far_from_print() -> None:
    name = "attention-is-not-explanation"
    cells = {(line.task, line.model) for line in read_part(REPRODUCTIONS[name].form, ROOT / name, "taus") if far(line)}
    by_hand = (ROOT / f"{name}.md").read_text(encoding="utf-8").partition(end(BLOCK))[2]
    told = {
        (task, model)
        for task, models in re.findall(r"^- ([\w-]+) \(([\w\s,-]+)\):", by_hand, re.MULTILINE)
        for model in re.split(r",\s+", models)
    }
    assert told == cells
