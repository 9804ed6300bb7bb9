"""A person's own data and model through the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_commands import command, run
from tests.own_model import DEFINITION
from tests.readers.test_csv_file import rows, write

SMALL = ["--set", "epochs=3", "--set", "embedding_dim=16", "--set", "hidden=8", "--set", "learning_rate=0.02"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path, [f"{text},{label}" for text, label in rows(200)], name="wind.csv")


def test_own_data_and_an_own_model_stand_on_a_board_beside_a_reference_model(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.py").write_text(DEFINITION)
    words = ["--suite", "quick", "--tasks", str(data), "--models", f"{tmp_path}/own.py:bag_of_words,average-additive"]
    words += ["--methods", "random,gradient-x-input,attention", "--metrics", "comprehensiveness", "--examples", "20"]
    assert run(tmp_path, *words, *SMALL) == 0
    (folder,) = (tmp_path / "boards").glob("custom-*")
    page = (folder / "wind.md").read_text()
    assert "`own data`" in page
    assert "bag-of-words" in page
    assert "average-additive" in page
    assert "UNVERIFIED" not in page
    assert "wind: files (own data)" in capsys.readouterr().err
    assert command("list", "models", "--results", tmp_path / "results") == 0
    assert "bag-of-words" in capsys.readouterr().out

    # Another version of the file never stands in one table with the first.
    write(tmp_path, [f"{text},{label}" for text, label in rows(190)], name="wind.csv")
    assert run(tmp_path, *words, *SMALL) == 0
    assert (folder / "wind.md").read_text().count("Data: wind, version 1") == 1
    assert (folder / "wind.md").read_text() != page


def test_a_relative_path_is_enough_and_prepare_shows_the_data(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("prepare", "wind.csv", "--results", tmp_path / "results") == 0
    shown = capsys.readouterr().out
    assert "wind: own data, from files" in shown
    assert "north / south" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tasks", "{folder}/none.csv"], "there is no file {folder}/none.csv"),
        (["--models", "{folder}/own.py:bag_of_word"], "has no attribute 'bag_of_word'; did you mean bag_of_words"),
        (["--models", "{folder}/own.py:BagOfWords"], "is a class; name the function decorated with @model(...)"),
        (["--models", "{folder}/own.py"], "say which model of the file"),
        (["--models", "{folder}/none.py:x"], "there is no file"),
    ],
)
def test_a_wrong_reference_is_one_error(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    (tmp_path / "own.py").write_text(DEFINITION)
    asked = [word.format(folder=tmp_path) for word in words]
    assert run(tmp_path, "--suite", "quick", "--tasks", str(data), *asked) == 2
    assert message.format(folder=tmp_path) in capsys.readouterr().err


def test_a_name_of_a_reference_model_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.py").write_text(DEFINITION.replace('"bag-of-words"', '"bilstm-none"'))
    assert run(tmp_path, "--suite", "quick", "--models", f"{tmp_path}/own.py:bag_of_words") == 2
    assert "like a reference model; rename it" in capsys.readouterr().err
