from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from faithboard import __version__
from faithboard.cli import main
from faithboard.cli.options import separated, settings, whole_numbers
from faithboard.errors import SuiteError
from tests import tiny


def command(*words: str | Path) -> int:
    """Exit code of `faithboard WORDS`, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["faithboard", *map(str, words)])
        with pytest.raises(SystemExit) as stopped:
            main()
    return int(stopped.value.code or 0)


def run(folder: Path, *words: str) -> int:
    return command("run", "--results", folder / "results", "--leaderboards", folder / "boards", "--no-track", *words)


def toml(folder: Path, **changes: str) -> str:
    content = {
        "tasks": f'["{tiny.TASK_FILE}:TINY"]',
        "methods": '["random", "gradient-l2"]',
        "metrics": '["comprehensiveness", "precision@k"]',
        "examples": "100",
    } | changes
    lines = "\n".join(f"{key} = {value}" for key, value in content.items())
    path = folder / "suite.toml"
    path.write_text(
        f'name = "tiny"\nversion = 1\nmodels = ["bilstm-additive"]\nseeds = [0]\nbudget = 1000000\n{lines}\n'
    )
    return str(path)


def test_run_prints_a_ranked_table_and_says_where_everything_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "--suite", toml(tmp_path)) == 0
    shown = capsys.readouterr()
    assert "gradient-l2" in shown.out
    assert "precision@k ↑" in shown.out
    assert str(tmp_path / "boards" / "tiny-v1" / "README.md") in shown.out
    assert "\r" not in shown.out + shown.err  # no bars in a log
    assert "trained 1 model, computed 2 explanations" in shown.err

    assert run(tmp_path, "--suite", toml(tmp_path)) == 0
    assert "nothing to train, explain or score" in capsys.readouterr().err

    page = tmp_path / "boards" / "tiny-v1" / "tiny.md"
    before = page.read_text()
    page.unlink()
    assert command("report", "--results", tmp_path / "results", "--leaderboards", tmp_path / "boards") == 0
    assert page.read_text() == before


def test_plan_shows_states_and_costs_and_trains_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("plan", "--suite", toml(tmp_path), "--results", tmp_path / "results") == 0
    shown = capsys.readouterr().out
    assert "gradient-l2" in shown
    assert "budget: 1,000,000 token steps" in shown
    assert not list((tmp_path / "results" / "models").iterdir())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--suite", "qick"], "unknown suite 'qick': did you mean quick"),
        (["--tasks", "plantd"], "unknown task 'plantd': did you mean planted"),
        (["--methods", "atention"], "unknown method 'atention': did you mean attention"),
        (["--metrics", "comprehensivness"], "unknown metric 'comprehensivness': did you mean comprehensiveness"),
        (["--models", "bilstm-dott"], "unknown attention 'dott'"),
        (["--seeds", "one"], "seeds are whole numbers"),
        (["--set", "epochs"], "write a setting as name=value"),
        (["--origin", "web"], "unknown origin"),
        (["--device", "tpu"], "unknown device"),
        (["--set", "vectors=none.txt"], "none.txt"),
    ],
)
def test_bad_input_is_one_error_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert run(tmp_path, "--suite", "quick", "--tasks", "planted", *words) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert "Traceback" not in shown
    assert not list((tmp_path / "results").glob("*/*.json"))


def test_a_missing_data_folder_says_what_was_looked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "data"
    empty.mkdir()
    assert run(tmp_path, "--tasks", "sst", "--data", str(empty)) == 2
    shown = capsys.readouterr().err
    assert "train.txt" in shown
    assert "https://" in shown


def test_results_that_cannot_be_written_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "results").write_text("a file, not a folder")
    assert run(tmp_path, "--suite", "quick") == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_failed_method_is_in_the_exit_code_and_the_others_are_ranked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.py").write_text(tiny.BROKEN)
    methods = f'["random", "{tmp_path}/broken.py:wrong_shape"]'
    assert run(tmp_path, "--suite", toml(tmp_path, methods=methods)) == 1
    shown = capsys.readouterr()
    assert "failed: wrong-shape on tiny" in shown.err
    assert "wrong-shape" in shown.out
    assert "random" in shown.out


def test_report_without_results_says_how_to_make_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("report", "--results", tmp_path / "none") == 2
    assert "faithboard run" in capsys.readouterr().err


@pytest.mark.parametrize("what", ["tasks", "methods", "metrics", "models", "trainings", "suites"])
def test_list_names_what_there_is(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("list", what) == 0
    named = {
        "tasks": "planted",
        "methods": "leave-one-out",
        "metrics": "precision@k",
        "trainings": "saliency-guided",
        "suites": "quick",
    }
    assert named.get(what, "bilstm-additive") in capsys.readouterr().out


def test_list_of_something_else_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("list", "taks") == 2
    assert "did you mean tasks" in capsys.readouterr().err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--version") == 0
    assert capsys.readouterr().out == f"faithboard {__version__}\n"


def test_values_of_options() -> None:
    assert separated(" a, b,,") == ["a", "b"]
    assert whole_numbers("0,2") == [0, 2]
    assert settings(["epochs=4", "vectors=my file.txt", "amsgrad=false"]) == {
        "epochs": 4,
        "vectors": "my file.txt",
        "amsgrad": False,
    }
    with pytest.raises(SuiteError):
        settings(["epochs"])


def test_list_of_a_data_root_that_is_not_there_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("list", "tasks", "--data", tmp_path / "none") == 2
    assert "there is no data root" in capsys.readouterr().err


def test_report_takes_a_suite_with_or_without_its_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "--suite", toml(tmp_path)) == 0
    folders = ("--results", tmp_path / "results", "--leaderboards", tmp_path / "again")
    assert command("report", "--suite", "tiny", *folders) == 0
    assert command("report", "--suite", "tiny-v1", *folders) == 0
    assert command("report", "--suite", "tyny", *folders) == 2
    assert "did you mean tiny-v1" in capsys.readouterr().err
    assert command("forget", "random", "--suite", "tiny-v1", "--results", tmp_path / "results") == 0
    capsys.readouterr()
    assert command("report", *folders) == 0
    assert "random" not in capsys.readouterr().out


def test_an_interface_that_cannot_start_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert command("ui", "--results", tmp_path, "--port", str(taken.getsockname()[1])) == 2
    assert "is in use" in capsys.readouterr().err
