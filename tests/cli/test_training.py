"""`faithboard train`: models alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_commands import command, toml


def train(folder: Path, *words: str) -> int:
    places = ("--results", folder / "results", "--leaderboards", folder / "boards")
    return command("train", "--suite", toml(folder), "--models", "average-additive", *places, *words)


def test_the_cost_of_trainings_is_measured_where_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trainings = ("--trainings", "standard,random-masking")
    assert train(tmp_path, *trainings) == 0
    page = tmp_path / "boards" / "tiny-models-v1" / "models.md"
    assert "## Cost of training" not in page.read_text()
    capsys.readouterr()
    assert train(tmp_path, *trainings, "--measure-cost") == 0
    assert "tiny / average-additive / random-masking / seed 0: " in capsys.readouterr().err
    shown = page.read_text().split("## Cost of training")[1]
    (row,) = [line for line in shown.splitlines() if "random-masking" in line]
    assert "cpu, float32" in row


def test_models_of_other_settings_are_told_apart_in_the_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for epochs in (1, 2):
        assert train(tmp_path, "--set", f"epochs={epochs}") == 0
    capsys.readouterr()
    assert command("list", "models", "--results", tmp_path / "results") == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("tiny ")]
    assert sorted(line.split("epochs ")[1][0] for line in lines) == ["1", "2"]
    keys = {path.stem[:8] for path in (tmp_path / "results" / "models").glob("*.json")}
    assert {line.split()[-1] for line in lines} == keys
