"""From the leaderboards of a folder to the page. The edge of this package."""

from __future__ import annotations

from pathlib import Path

from faithboard.errors import SuiteError
from faithboard.report import files as board_files
from faithboard.reproduction import Shown
from faithboard.reproduction.elephant.form import FORM
from faithboard.reproduction.elephant.making import answers
from faithboard.reproduction.elephant.page import console
from faithboard.reproduction.files import lines_folder, write

BOARDS = ("standard", "reference-models", "attention-check-models")
"""Suites whose leaderboards answer: explanations, and models with their controls. Of each the newest version."""


def report_boards(leaderboards: Path, name: str) -> Shown:
    """Write the page `name` from the leaderboards that lie in the folder. Nothing is trained or explained.

    Raises SuiteError when none of them is there, and FaithboardError for one that is broken.
    """
    folders = answering(leaderboards)
    if not folders:
        raise SuiteError(
            f"{leaderboards} holds no leaderboard of {' or '.join(BOARDS)}: `faithboard run --suite standard` and "
            "`faithboard train --suite reference` write them"
        )
    found = answers({folder.name: board_files.read(folder) for folder in folders})
    return Shown(console(found), write(FORM, found, lines_folder(leaderboards, name)), ())


def answering(leaderboards: Path) -> list[Path]:
    """The folders of the boards that the page is made of."""
    return [folder for suite in BOARDS if (folder := newest(leaderboards, suite)) is not None]


def newest(leaderboards: Path, suite: str) -> Path | None:
    """The folder of the newest version of a suite's leaderboard; None without any."""
    versions = {
        int(path.name.removeprefix(f"{suite}-v")): path
        for path in leaderboards.glob(f"{suite}-v*")
        if path.name.removeprefix(f"{suite}-v").isdigit() and (path / board_files.TABLES).is_file()
    }
    return versions[max(versions)] if versions else None
