"""A submission that cannot be used is one clear error, whichever command meets it; in a run it hurts its own rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from faithboard.store import Store
from tests import tiny
from tests.cli.test_commands import command, run, toml

TASK = f"{tiny.TASK_FILE}:TINY"
METHOD = """
from faithboard import method

@method("{name}", kind="sensitivity", signed=False, source="a test")
def mine(model, batch, rng):
    return batch.scorable.cumsum(1).float()
"""
FILES = {
    "good.py": METHOD.format(name="mine"),
    "again.py": METHOD.format(name="mine"),
    "taken.py": METHOD.format(name="attention"),
    "raises.py": "x = 1\ny = x / 0\n",
    "exits.py": "import sys\nsys.exit(3)\n",
    "syntax.py": "def broken(:\n",
    "plain.py": "class MyMethod:\n    pass\n\nvalue = 3\n",
    "needs.py": METHOD.format(name="mine").replace('source="a test"', 'source="a test", needs=["wings"]'),
    "arguments.py": METHOD.format(name="mine").replace("(model, batch, rng)", "(model)"),
}
CASES = {
    "attribute": ("good.py:min", "good.py has no attribute 'min'; did you mean mine"),
    "no-attribute": ("good.py", "as in"),
    "no-file": ("none.py:mine", "there is no file"),
    "raises": ("raises.py:y", "raises.py:2 in <module>: y = x / 0\n  ZeroDivisionError"),
    "exits": ("exits.py:x", "exits.py:2 in <module>: sys.exit(3)\n  SystemExit: 3"),
    "syntax": ("syntax.py:x", "syntax.py:1: def broken(:\n  SyntaxError"),
    "class": ("plain.py:MyMethod", "is a class; name the function decorated with @model(...) or @method(...)"),
    "value": ("plain.py:value", "is a int, not a method"),
    "unknown-need": ("needs.py:mine", "unknown need ['wings']"),
    "arguments": ("arguments.py:mine", "the function takes (model, batch, rng)"),
    "same-name": ("good.py:mine,again.py:mine", "two methods are called 'mine'"),
    "built-in-name": ("taken.py:mine", "is called 'attention' like the built-in"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def words(of: str, folder: Path, references: list[str]) -> list[str | Path]:
    results: list[str | Path] = ["--results", folder / "results"]
    if of == "check":
        return ["check", *references]
    if of == "explain":
        (folder / "results").mkdir()
        return ["explain", "aurora", "--task", TASK, "--methods", ",".join(references), *results]
    return [of, "--suite", toml(folder), "--methods", ",".join(references), *results]


@pytest.mark.parametrize("asked", [["--models", "bilstm-aditive"], ["--set", "missing=zeros"], ["--set", "hidden=0"]])
def test_what_no_model_can_be_is_said_before_data_is_read(
    folder: Path, capsys: pytest.CaptureFixture[str], asked: list[str]
) -> None:
    assert command("train", "--suite", toml(folder), *asked, "--results", folder / "results") == 2
    shown = capsys.readouterr()
    assert asked[1].partition("=")[0] in shown.err
    assert "tiny: " not in shown.out + shown.err  # the line about its data


@pytest.mark.parametrize("of", ["check", "plan", "run", "explain"])
@pytest.mark.parametrize("case", CASES)
def test_every_command_says_the_same_of_a_bad_submission(
    folder: Path, capsys: pytest.CaptureFixture[str], of: str, case: str
) -> None:
    references, message = CASES[case]
    assert command(*words(of, folder, [f"{folder}/{one}" for one in references.split(",")])) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert references.split(",")[0].split(":")[0] in shown
    assert "Traceback" not in shown
    assert "importlib" not in shown


def test_in_a_run_a_method_fails_or_is_unsupported_for_its_own_rows_only(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "broken.py").write_text(tiny.BROKEN)
    methods = f'["random", "attention", "gradient-l2", "{folder}/broken.py:changes_the_model"]'
    suite = toml(folder, methods=methods)
    assert run(folder, "--suite", suite, "--models", "bilstm-none") == 1
    shown = capsys.readouterr()
    assert "changed the model" in shown.err
    found = {one.method: one for one in Store(folder / "results").explanations()}
    assert {name: one.status for name, one in found.items()} == {
        "random": "ok",
        "attention": "unsupported",
        "gradient-l2": "ok",
        "changes-the-model": "failed",
    }
    assert "needs attention, which bilstm-none has not" in found["attention"].reason
    assert all(row.status == "ok" for row in found["gradient-l2"].rows)
    assert len(found["gradient-l2"].rows) == 2


def test_an_unsupported_method_is_no_failure(folder: Path) -> None:
    suite = toml(folder, methods='["random", "attention"]', metrics='["comprehensiveness"]')
    assert run(folder, "--suite", suite, "--models", "bilstm-none") == 0
