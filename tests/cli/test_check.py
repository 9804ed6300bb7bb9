from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_commands import command

METHODS = """
import torch
from faithboard import method

def declared(name, **more):
    return method(name, kind="sensitivity", signed=False, source="a test", **more)

@declared("by-position")
def good(model, batch, rng):
    return batch.scorable.cumsum(1).float()

@declared("draws-globally")
def bad(model, batch, rng):
    return torch.rand(batch.ids.shape)

@declared("raises")
def raises(model, batch, rng):
    return {}["no such key"]

@declared("changes-the-model")
def changes(model, batch, rng):
    with torch.no_grad():
        next(model.parameters()).fill_(float('nan'))
    return batch.scorable.cumsum(1).float()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my_method.py"
    path.write_text(METHODS)
    return path


def test_a_method_that_keeps_the_contract_is_told_check_by_check(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("check", f"{file}:good", "gradient-l2") == 0
    shown = capsys.readouterr().out
    assert "by-position (my_method.py)" in shown
    assert "gradient-l2 (gradient.py)" in shown
    assert "global-random-state  passed" in shown
    assert shown.count("keeps the contract") == 2


@pytest.mark.parametrize(
    ("attribute", "check", "reason"),
    [
        ("bad", "global-random-state", "draw from the rng that is given"),
        ("raises", "scores-fit", "KeyError: 'no such key'"),
        ("changes", "model-untouched", "the method changes the model"),
    ],
)
def test_a_broken_method_fails_with_its_check_the_rule_and_the_reason(
    file: Path, capsys: pytest.CaptureFixture[str], attribute: str, check: str, reason: str
) -> None:
    assert command("check", f"{file}:{attribute}") == 1
    shown = capsys.readouterr().out
    assert f"{check:<19}  failed" in shown
    assert "rule: " in shown
    assert reason in " ".join(shown.split())


def test_what_a_method_raises_is_shown_with_its_own_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("check", f"{file}:raises") == 1
    shown = capsys.readouterr().out
    assert 'my_method.py:18 in raises: return {}["no such key"]' in shown
    assert shown.count("no such key") == 2
    assert "attribution.py" not in shown
    assert shown.count("untried: scores-fit failed") == 19


def test_one_broken_method_does_not_keep_the_next_from_being_checked(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("check", f"{file}:changes", f"{file}:good") == 1
    assert "by-position (my_method.py)" in capsys.readouterr().out


def test_a_method_that_changes_the_model_does_not_spoil_the_next(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("check", f"{file}:changes", "gradient-l2") == 1
    assert capsys.readouterr().out.count("keeps the contract") == 1


def test_an_unknown_method_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("check", "atention") == 2
    assert "did you mean attention" in capsys.readouterr().err
