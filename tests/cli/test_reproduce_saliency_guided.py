"""The reproduction of saliency-guided training from end to end on a tiny task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import tiny
from tests.cli.test_commands import command

NAME = "saliency-guided-training"
WORDS = ("--tasks", f"{tiny.TASK_FILE}:TINY", "--seeds", "0", "--examples", "8", "--set", "epochs=1")


def reproduce(folder: Path, *words: str) -> int:
    return command("reproduce", NAME, "--results", folder / "results", "--leaderboards", folder / "boards", *words)


def test_it_is_made_once_with_curves_and_read_the_second_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("computed again")

    monkeypatch.delenv("FAITHBOARD_DATA", raising=False)
    assert reproduce(tmp_path, *WORDS) == 0
    (page,) = (tmp_path / "boards" / "reproduction").glob("*.md")
    assert page.stem.startswith(f"{NAME}-custom-")
    before = page.read_bytes()
    for method in ("gradient-l2", "integrated-gradients", "smoothgrad"):
        assert (page.with_suffix("") / f"curves-{method}.png").is_file()
    capsys.readouterr()

    monkeypatch.setattr("faithboard.reproduction.saliency_guided.reporting.reproduction_of", never)
    assert reproduce(tmp_path, *WORDS) == 0
    shown = capsys.readouterr()
    assert "nothing to train, explain or score" in shown.err
    assert "Saliency-guided training raises comprehensiveness." in shown.out
    assert page.read_bytes() == before


def test_without_any_model_it_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce(tmp_path, "--tasks", "movies", "--seeds", "0") == 2
    assert "needs the folder of its published files" in capsys.readouterr().err
