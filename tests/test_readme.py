"""Every command in README.md and CONTRIBUTING.md is run here, in one folder, in the order a reader would."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from faithboard import suites
from faithboard.cli.publishing import README_BLOCK
from faithboard.report import read, readme_block
from faithboard.report.markdown import with_block
from faithboard.resolve import resolve
from faithboard.suites import Suite
from tests.cli.test_commands import command

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "CONTRIBUTING.md")
TREES = dict.fromkeys(
    ("train", "dev", "test"),
    "(3 (2 A) (3 (3 truly) (3 (3 good) (3 (2 little) (3 (2 film) (2 .))))))\n"
    "(1 (2 A) (1 (1 truly) (1 (1 bad) (1 (2 little) (1 (2 film) (2 .))))))\n" * 20,
)
STARTED_ELSEWHERE = ("faithboard ui",)
"""A server that runs until it is stopped: `tests/tracking` covers it."""


def blocks(page: str, language: str) -> Iterator[str]:
    yield from re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


def commands(page: str) -> list[str]:
    lines = (line.split("#")[0].strip() for block in blocks(page, "bash") for line in block.splitlines())
    return [line for line in lines if line]


def scripts(page: str) -> Iterator[str]:
    """The Python blocks that are run as they stand; the others define something."""
    return (code for code in blocks(page, "python") if "\nimport faithboard\n" in code)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a reader would stand: their own method files, and a data folder in the published form."""
    place = tmp_path_factory.mktemp("reader")
    for page in PAGES:
        for code in blocks(page, "python"):
            (place / code.splitlines()[0].removeprefix("# ")).write_text(code)
    (place / "DIR" / "sst").mkdir(parents=True)
    for split, lines in TREES.items():
        (place / "DIR" / "sst" / f"{split}.txt").write_text(lines)
    return place


def smaller(reference: str, load: Callable[[str], Suite] = suites.load) -> Suite:
    """A suite under its own name that takes seconds: few examples, and models that need not be good."""
    suite = load(reference)
    return replace(suite, examples=12, task_settings={**suite.task_settings, "babi-1": {"epochs": 2}})


def test_make_targets_exist_and_quick_runs_the_embedded_suite() -> None:
    named = [line.split()[1] for page in PAGES for line in commands(page) if line.startswith("make ")]
    assert {"quick", "test"} <= set(named)
    for target in named:
        done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        if target == "quick":
            assert "faithboard run --suite quick" in done.stdout


@pytest.mark.slow
def test_every_command_does_what_it_says(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("FAITHBOARD_DATA", raising=False)
    monkeypatch.setattr(suites, "load", smaller)
    for page in PAGES:
        for line in commands(page):
            words = shlex.split(line)
            if words[0] != "faithboard" or line in STARTED_ELSEWHERE:
                continue
            if "sst" in words:  # forty sentences do not train a good model, and need no word vectors
                words += ["--set", "vectors=random", "--set", "epochs=1", "--seeds", "0", "--examples", "10"]
                words += ["--methods", "random,attention,leave-one-out", "--metrics", "comprehensiveness"]
            assert command(*words[1:]) == 0, f"{page}: {line}\n{capfd.readouterr().err}"
        for code in scripts(page):
            subprocess.run([sys.executable, "-c", code], check=True)
    assert (folder / "explanation.html").is_file()
    assert (folder / "leaderboards" / "quick-v1" / "README.md").is_file()
    page = (folder / "leaderboards" / "quick-v1" / "planted.md").read_text()
    assert "`gradient-max`" in page
    assert "`occlusion-by-unk`" in page


def test_the_example_of_a_data_file_is_read_as_it_says(tmp_path: Path) -> None:
    (block,) = blocks("CONTRIBUTING.md", "csv")
    file = tmp_path / "reviews.csv"
    file.write_text(block + '"A truly bad little film.",neg,8:11,train\n')
    task = resolve("task", str(file)).value
    assert (task.name, task.labels, task.rationale) == ("reviews", ("neg", "pos"), "human")
    marked = [one.text[start:end] for one in task.read(file, "train") for start, end in one.rationale]
    assert marked == ["good", "bad"]


def test_no_command_is_of_another_kind() -> None:
    known = {"make", "faithboard"}
    assert {shlex.split(line)[0] for page in PAGES for line in commands(page)} <= known


def test_the_table_of_the_readme_is_that_of_the_committed_rows() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = readme_block(read(ROOT / "leaderboards" / "quick-v1"))
    assert with_block(readme, README_BLOCK, block, "README.md") == readme


def test_links_lead_somewhere() -> None:
    for page in (*PAGES, "ARCHITECTURE.md", "CHANGELOG.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text(encoding="utf-8")):
            assert target.startswith("https://") or (ROOT / target).exists(), f"{page} links to {target}"


def test_python_is_the_one_that_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "faithboard", "--version"], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.startswith("faithboard ")
