"""Export and import on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from faithboard.store import Store
from tests.cli.test_commands import command, run, toml
from tests.test_exchange import fill, model


def test_results_go_from_one_folder_to_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(Store(tmp_path / "here"), model(0), "random")
    file, there = tmp_path / "tiny.zip", tmp_path / "there"
    assert command("export", "tiny-v1", file, "--results", tmp_path / "here") == 0
    assert "tiny-v1, 1 models, 1 explanations" in capsys.readouterr().out
    assert command("import", file, "--results", there) == 0
    assert command("import", file, "--results", there) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert "already" not in first
    assert "2 of them were here already" in second
    assert command("report", "--results", there, "--leaderboards", tmp_path / "boards") == 0
    assert (tmp_path / "boards" / "tiny-v1" / "README.md").is_file()


def test_a_run_on_imported_results_trains_nothing_for_the_sake_of_a_clock(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("trained")

    here, there = tmp_path / "here", tmp_path / "there"
    there.mkdir(parents=True)
    here.mkdir()
    suite = toml(tmp_path, examples="10")
    assert run(here, "--suite", suite) == 0
    assert command("export", "tiny-v1", tmp_path / "r.zip", "--results", here / "results") == 0
    assert command("import", tmp_path / "r.zip", "--results", there / "results") == 0
    capsys.readouterr()
    monkeypatch.setattr("faithboard.running.jobs.fitted", never)
    assert run(there, "--suite", suite) == 0
    shown = capsys.readouterr()
    assert "its weights are not here, so its methods are not timed" in shown.err
    assert "gradient-l2" in shown.out
    rows = (folder / "boards" / "tiny-v1" / "rows.jsonl" for folder in (here, there))
    assert len({path.read_bytes() for path in rows}) == 1


def test_a_file_that_is_no_export_is_one_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.zip").write_text("x")
    assert command("import", tmp_path / "x.zip", "--results", tmp_path / "there") == 2
    shown = capsys.readouterr().err
    assert "cannot be read as results" in shown
    assert "Traceback" not in shown
