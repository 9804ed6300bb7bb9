from __future__ import annotations

from pathlib import Path

import pytest

from tests import tiny
from tests.cli.test_commands import command

TASK = f"{tiny.TASK_FILE}:TINY"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny suite run into a folder; tests only read it."""
    folder = tmp_path_factory.mktemp("explain")
    tiny.carried_out(tiny.SUITE, tiny.place(folder))
    return folder


def explain(results: Path, page: Path, *words: str, task: str = TASK) -> int:
    return command("explain", *words, "--task", task, "--results", results, "--html", page)


def test_a_text_is_explained_with_numbers_and_on_a_page(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert explain(results, page, "aurora & zzzz", "--methods", "gradient-l2,attention") == 0
    shown = capsys.readouterr().out
    assert "bilstm-additive on tiny, standard training, seed 0 (accuracy" in shown
    assert "predicted: north" in shown
    assert "aurora(" in shown
    assert "[zzzz](" in shown
    assert "\x1b" not in shown
    assert f"page: {page}" in shown
    written = page.read_text()
    assert written.index("gradient-l2") < written.index("attention")
    assert "&amp;" in written


def test_a_page_in_a_folder_that_is_not_there_is_refused_before_anything_is_computed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explain(tmp_path / "no-results", tmp_path / "none" / "page.html", "aurora") == 2
    assert f"the folder {tmp_path / 'none'} does not exist; create it" in capsys.readouterr().err


def test_colours_are_for_terminals_and_can_be_turned_off(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert explain(results, tmp_path / "page.html", "aurora", "--methods", "gradient-l2") == 0
    assert "\x1b[38;5;16;48;5;75maurora" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    assert explain(results, tmp_path / "page.html", "aurora", "--methods", "gradient-l2") == 0
    assert "\x1b" not in capsys.readouterr().out


def test_an_example_comes_with_its_label_and_rationale(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert explain(results, page, "--example", "test-3", "--example", "test-4", "--methods", "gradient-l2") == 0
    shown = capsys.readouterr().out
    assert "the label is south" in shown
    assert "rationale: basalt" in shown
    assert 'class="rationale"' in page.read_text()


def test_a_method_that_fails_is_in_the_exit_code_and_the_others_are_shown(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.py").write_text(tiny.BROKEN)
    methods = f"{tmp_path}/broken.py:raises,gradient-l2"
    assert explain(results, tmp_path / "page.html", "aurora", "--methods", methods) == 1
    shown = capsys.readouterr().out
    assert "KeyError: 'no such key'" in shown
    assert "aurora(" in shown


PRIVATE = """
import dataclasses
from tests import tiny

PRIVATE = dataclasses.replace(tiny.TINY, private=True)
"""


def test_texts_of_a_private_task_are_not_written(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "task.py").write_text(PRIVATE)
    task, page = f"{tmp_path}/task.py:PRIVATE", tmp_path / "page.html"
    assert explain(results, page, "--example", "test-3", task=task) == 2
    shown = capsys.readouterr()
    assert "are private: no example of it is shown" in shown.err
    assert "basalt" not in shown.out + shown.err
    assert explain(results, page, "aurora", task=task) == 0
    assert "no page is written: texts of tiny are private" in capsys.readouterr().err
    assert not page.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["aurora", "--methods", "atention"], "did you mean attention"),
        (["aurora", "--query", "what"], "task tiny has no query"),
        (["aurora", "--model", "cnn-dot"], "faithboard train --tasks"),
        (["--example", "none"], "has no test example 'none'"),
        ([], "nothing to explain"),
    ],
)
def test_bad_input_is_one_error(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    page = tmp_path / "page.html"
    assert explain(results, page, *words) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert "Traceback" not in shown
    assert not page.exists()


def test_a_page_that_cannot_be_written_is_one_error(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    assert explain(results, taken, "aurora") == 2
    assert "taken cannot be written" in capsys.readouterr().err
