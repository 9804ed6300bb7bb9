"""Texts of a private task (notes, tweets) stay in the data cache: no result, page, message or MLflow run holds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import tiny
from tests.cli.test_commands import command

SECRET = "zyxsecretword"
TASK = f"""
import dataclasses
from tests import tiny

def generate(split):
    for record in tiny.generate(split):
        yield dataclasses.replace(record, text=("{SECRET}", *record.text), rationale=None)

PRIVATE = dataclasses.replace(
    tiny.TINY, name="private", generate=generate, rationale=None, planted={{}}, private=True
)
"""


def test_texts_of_a_private_task_are_in_nothing_that_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FAITHBOARD_DATA", raising=False)
    (tmp_path / "task.py").write_text(TASK)
    (tmp_path / "broken.py").write_text(tiny.BROKEN)
    results, boards = tmp_path / "results", tmp_path / "boards"
    words = ["--suite", "quick", "--tasks", f"{tmp_path}/task.py:PRIVATE", "--examples", "20", "--origin", "generated"]
    words += ["--methods", f"random,gradient-l2,{tmp_path}/broken.py:raises", "--metrics", "comprehensiveness"]
    assert command("run", *words, "--results", results, "--leaderboards", boards) == 1
    shown = capsys.readouterr()
    assert SECRET not in shown.out + shown.err
    held = [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    # The file of this task holds its texts itself, compiled too; the source of a definition is kept beside the results.
    kept = {("results", "data"), ("results", "sources"), ("task.py",)}
    assert {path.relative_to(tmp_path).parts[:2] for path in held if path.suffix != ".pyc"} <= kept
    assert any(results.glob("data/*"))
    assert (results / "mlflow.db").is_file()
