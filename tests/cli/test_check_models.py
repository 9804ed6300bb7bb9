"""`faithboard check` of a person's own model, on the texts of a task."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import tiny
from tests.cli.test_commands import command
from tests.own_model import DEFINITION

METHOD = """
from faithboard import method

@method("by-position", kind="sensitivity", signed=False, source="a test")
def by_position(model, batch, rng):
    return batch.scorable.cumsum(1).float()
"""
TASK = f"{tiny.TASK_FILE}:TINY"


def check(folder: Path, content: str, *more: str) -> int:
    path = folder / "own.py"
    path.write_text(content)
    return command("check", f"{path}:bag_of_words", *more, "--task", TASK, "--results", folder / "results")


def test_a_model_that_keeps_the_contract_is_told_check_by_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(tmp_path, DEFINITION + METHOD, f"{tmp_path}/own.py:by_position") == 0
    shown = capsys.readouterr().out
    assert "bag-of-words (own.py)\n  tried on texts of tiny" in shown
    assert "content-of-padding  passed" in shown
    assert "attention           untried" in shown
    assert "by-position (own.py)" in shown
    assert shown.count("keeps the contract") == 2


@pytest.mark.parametrize(
    ("right", "wrong", "name", "reason"),
    [
        ("states * real[:, :, None]", "states", "content-of-padding", "with a word's id on the padding"),
        ("return network", "return None", "made", "must return a Classifier, not a NoneType"),
        ("Output(self.bias", "Output(batch.ids.shape[1] + self.bias", "extra-padding", "five more padding tokens"),
    ],
)
def test_a_broken_model_fails_with_its_check_the_rule_and_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], right: str, wrong: str, name: str, reason: str
) -> None:
    assert check(tmp_path, DEFINITION.replace(right, wrong)) == 1
    shown = capsys.readouterr().out
    (line,) = [line for line in shown.splitlines() if line.startswith(f"  {name} ")]
    assert line.endswith("failed")
    assert "rule: " in shown
    assert reason in " ".join(shown.split())


def test_a_file_that_does_not_import_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(tmp_path, "import nothing_of_this_name") == 2
    assert "does not import" in capsys.readouterr().err
