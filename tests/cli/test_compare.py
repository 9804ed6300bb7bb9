from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_commands import command, run, toml
from tests.own_model import DEFINITION
from tests.readers.test_csv_file import rows, write

METHOD = """
from faithboard import method

@method("by-position", kind="sensitivity", signed=False, source="a test")
def mine(model, batch, rng):
    return batch.scorable.cumsum(1).float()
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tiny suite run into it, a submission beside the built-ins."""
    folder = tmp_path_factory.mktemp("compared")
    (folder / "mine.py").write_text(METHOD)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("FAITHBOARD_DATA", raising=False)
        methods = f'["random", "gradient-l2", "gradient-l2-saliency-guided", "{folder}/mine.py:mine"]'
        assert run(folder, "--suite", toml(folder, methods=methods)) == 0
    return folder


def compare(folder: Path, *words: str) -> int:
    return command("compare", *words, "--results", folder / "results")


def test_two_methods_are_compared_metric_by_metric(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(finished, "gradient-l2", "random", "--task", "tiny") == 0
    shown = capsys.readouterr().out
    assert "A = gradient-l2\nB = random" in shown
    assert "comprehensiveness ↑" in shown
    assert "precision@k ↑" in shown
    assert "A (<0.001)" in shown
    assert "(tiny-v1)" in shown


def test_a_file_stands_for_the_name_it_defines(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(finished, f"{finished}/mine.py:mine", "gradient-l2", "--suite", "tiny") == 0
    by_file = capsys.readouterr().out
    assert compare(finished, "by-position", "gradient-l2") == 0
    assert capsys.readouterr().out == by_file


def test_files_of_data_and_of_models_stand_for_the_names_they_give(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, own = write(tmp_path, [f"{text},{label}" for text, label in rows(20)], name="wind.csv"), tmp_path / "own.py"
    own.write_text(DEFINITION)
    for words, message in (
        (["--task", str(data)], "'wind' was not run on"),
        (["--model", f"{own}:bag_of_words"], "no results of the model 'bag-of-words'"),
    ):
        assert compare(finished, "gradient-l2", "random", *words) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["gradient-l3", "random"], "unknown method 'gradient-l3': did you mean gradient-l2"),
        (["gradient-l2", "random", "--task", "tyny"], "unknown task 'tyny': did you mean tiny"),
        (["attention", "random"], "--suite tiny --methods attention (stored: by-position, gradient-l2, "),
        (["attention", "random", "--task", "tiny"], "'attention' was not run on tiny in "),
        (["gradient-l2", "random", "--task", "imdb"], "--suite tiny --tasks imdb (stored: tiny)"),
        (["gradient-l2", "random", "--model", "cnn-dot"], "no results of the model 'cnn-dot'"),
        (["gradient-l2", "random", "--training", "standrd"], "did you mean standard"),
        (["gradient-l2", "random", "--suite", "tyny"], "no results of suite 'tyny'; did you mean tiny-v1"),
        (["random", "random"], "cannot be compared with itself"),
        (["nothing.py:x", "random"], "there is no file"),
        (
            ["gradient-l2", "gradient-l2-saliency-guided"],
            "no example on equal weights in common:\n  no trained model is explained by both",
        ),
    ],
)
def test_what_cannot_be_compared_is_one_error(
    finished: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert compare(finished, *words) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert "Traceback" not in shown


def test_without_results_it_says_how_to_make_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(tmp_path, "random", "gradient-l2") == 2
    assert "faithboard run" in capsys.readouterr().err
