"""The rule for k as a command: what it trains, what it says, what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import tiny
from tests.cli.test_commands import command

TINY = f"{tiny.TASK_FILE}:TINY"


def choose(folder: Path, *words: str, tasks: str = TINY) -> int:
    options = ("--tasks", tasks, "--results", folder, "--models", "average-additive", "--seeds", "0,1")
    return command("choose-share", *options, *words)


def test_every_share_is_shown_beside_standard_training_and_one_is_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert choose(tmp_path, "--set", "epochs=2") == 0
    shown = capsys.readouterr()
    assert "tiny, average-additive: accuracy on the dev split, mean over seed 0, 1" in shown.out
    lines = [line.split() for line in shown.out.splitlines()]
    assert [line[1] for line in lines if line and line[0] == "saliency-guided"] == ["0.1", "0.2", "0.3", "0.5"]
    assert "saliency-guided, k = 0.5: " in shown.err
    assert not list((tmp_path / "models").glob("*.json")), "the models are not kept"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--training", "standard"], "standard masks no share of the words"),
        (["--training", "standard,saliency-guided"], "one training at a time"),
        (["--set", "init=standard"], "choose it without --set init"),
        (["--training", "saliency-guidet"], "did you mean saliency-guided"),
    ],
)
def test_trainings_without_a_share_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert choose(tmp_path, *words) == 2
    assert message in capsys.readouterr().err


def test_the_task_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("choose-share") == 2
    assert "--tasks" in capsys.readouterr().err
