"""The command from end to end on a tiny task, and what it says to input that makes no sense."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

from tests import tiny
from tests.cli.test_commands import command

NAME = "attention-is-not-explanation"
TINY = f"{tiny.TASK_FILE}:TINY"
PRIVATE = """
from dataclasses import replace
from faithboard.resolve import resolve

PRIVATE = replace(resolve("task", "{tiny}").value, name="private-notes", private=True)
"""


def reproduce(folder: Path, *words: str, name: str = NAME) -> int:
    return command(
        "reproduce",
        name,
        "--results",
        folder / "results",
        "--leaderboards",
        folder / "boards",
        "--examples",
        "8",
        *words,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reproduced")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("FAITHBOARD_DATA", raising=False)
        assert reproduce(folder, "--tasks", TINY, "--models", "bilstm-additive,average-additive", "--seeds", "0") == 0
    return folder


def page_of(folder: Path) -> Path:
    (page,) = (folder / "boards" / "reproduction").glob("*.md")
    return page


def test_a_trial_has_a_page_of_its_own_with_figures(finished: Path) -> None:
    page = page_of(finished)
    assert page.stem.startswith(f"{NAME}-custom-")
    text = page.read_text()
    assert "beyond the paper's tasks" in text
    assert "tiny" in text
    for name in ("permutation", "attention-examples"):
        assert f"{page.stem}/{name}.png" in text
        assert (page.parent / page.stem / f"{name}.png").is_file()


def test_a_second_call_computes_nothing_and_shows_the_same(
    finished: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("computed again")

    before = page_of(finished).read_bytes()
    monkeypatch.setattr("faithboard.reproduction.attention.reporting.reproduction_of", never)
    monkeypatch.setattr("faithboard.running.jobs.fitted", never)
    words = ("--tasks", TINY, "--models", "bilstm-additive,average-additive", "--seeds", "0")
    assert reproduce(finished, *words) == 0
    shown = capsys.readouterr()
    assert "nothing to train, explain or score" in shown.err
    assert "## The claims, one by one" in shown.out
    assert str(page_of(finished)) in shown.out
    assert page_of(finished).read_bytes() == before


def test_results_of_another_machine_make_the_page_without_weights(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = page_of(finished).stem.removeprefix(f"{NAME}-") + "-v1"
    assert command("export", suite, tmp_path / "r.zip", "--results", finished / "results") == 0
    assert command("import", tmp_path / "r.zip", "--results", tmp_path / "results") == 0
    words = ("--tasks", TINY, "--models", "bilstm-additive,average-additive", "--seeds", "0")
    assert reproduce(tmp_path, *words) == 0
    shown = capsys.readouterr().err
    assert "nothing to train, explain or score" in shown
    assert "note: the attention of texts is not drawn anew" in shown
    lines = page_of(finished).with_suffix("") / "taus.jsonl"
    assert (page_of(tmp_path).with_suffix("") / "taus.jsonl").read_bytes() == lines.read_bytes()


def test_without_matplotlib_the_page_has_no_figures_and_says_so(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    words = ("--tasks", TINY, "--models", "bilstm-additive,average-additive", "--seeds", "0")
    boards = ("--leaderboards", str(tmp_path))
    assert reproduce(finished, *words, *boards) == 0
    assert "pip install 'faithboard[figures]'" in capsys.readouterr().err
    (page,) = (tmp_path / "reproduction").glob("*.md")
    assert "## Figures" not in page.read_text()


def test_a_model_without_attention_is_unsupported_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reproduce(tmp_path, "--tasks", TINY, "--models", "bilstm-none", "--seeds", "0") == 2
    shown = capsys.readouterr().err
    assert "there is nothing to reproduce: no model has been probed; probes need attention, decode, gradients" in shown


def test_private_texts_are_shown_nowhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "private.py").write_text(PRIVATE.format(tiny=TINY))
    words = ("--tasks", f"{tmp_path}/private.py:PRIVATE", "--models", "bilstm-additive", "--seeds", "0")
    assert reproduce(tmp_path, *words) == 0
    assert "aurora" not in "".join(capsys.readouterr())
    for path in (tmp_path / "boards").rglob("*"):
        assert not path.is_file() or b"aurora" not in path.read_bytes()
    assert not list((tmp_path / "boards").rglob("attention-examples.png"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tasks", "plantd"], "unknown task 'plantd': did you mean planted"),
        (["--tasks", "sst"], "needs the folder of its published files"),
        (["--models", "bilstm-dott", "--tasks", "planted"], "unknown attention 'dott'"),
        (["--seeds", "x"], "seeds are whole numbers"),
    ],
)
def test_input_that_makes_no_sense_is_one_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert reproduce(tmp_path, *words) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert "Traceback" not in shown


def test_unknown_reproductions_get_near_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce(tmp_path, name="attention-is-not-explanaton") == 2
    assert "did you mean attention-is-not-explanation?" in capsys.readouterr().err


def test_a_page_made_of_leaderboards_takes_nothing_that_chooses_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("reproduce", "elephant", "--leaderboards", tmp_path)
    assert command(*words, "--tasks", "sst") == 2
    assert "elephant runs nothing" in capsys.readouterr().err
    assert command(*words) == 2
    assert "holds no leaderboard of standard" in capsys.readouterr().err
