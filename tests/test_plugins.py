"""Installed packages offer methods, tasks, metrics and models by entry points: a real wheel, a real installation."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import tiny
from tests.own_model import DEFINITION

METHODS = """
from faithboard import TOKEN, method

@method("dice", kind="reference", signed=False, source="a plugin", stochastic=True)
def dice(model, batch, rng):
    return rng.uniform(TOKEN)
"""
TASKS = f"""
import dataclasses, sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from tests.tiny import TINY
WEATHER = dataclasses.replace(TINY, name="weather")
"""
METRICS = """
import dataclasses
from faithboard.metrics import COMPREHENSIVENESS
HALVES = dataclasses.replace(COMPREHENSIVENESS, name="halves")
"""
BROKEN = "import a_package_that_is_not_here\n"
EXITS = "import sys\nsys.exit(3)\n"

ENTRY_POINTS = """
[faithboard.methods]
dice = faithboard_plugin.methods:dice
broken = faithboard_plugin.broken:method
exits = faithboard_plugin.exits:method
lost = faithboard_plugin.methods:lost

[faithboard.tasks]
weather = faithboard_plugin.tasks:WEATHER

[faithboard.metrics]
halves = faithboard_plugin.metrics:HALVES

[faithboard.models]
bag-of-words = faithboard_plugin.models:bag_of_words
"""


def wheel(folder: Path, name: str, files: Mapping[str, str], entry_points: str) -> Path:
    """A wheel as the specification of binary distributions has it, written by hand."""
    info = f"{name}-1.0.dist-info"
    content = dict(files) | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": entry_points,
    }
    lines = []
    for member, text in content.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{member},sha256={digest},{len(text.encode())}")
    content[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,"]) + "\n"
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in content.items():
            archive.writestr(member, text)
    return path


def installed(site: Path, made: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(site)]
    subprocess.run([*pip, "--disable-pip-version-check", str(made)], check=True, capture_output=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed packages with one plugin in it."""
    folder = tmp_path_factory.mktemp("plugin")
    names = {
        "methods": METHODS,
        "tasks": TASKS,
        "metrics": METRICS,
        "models": DEFINITION,
        "broken": BROKEN,
        "exits": EXITS,
        "__init__": "",
    }
    files = {f"faithboard_plugin/{name}.py": text for name, text in names.items()}
    installed(folder / "site", wheel(folder, "faithboard_plugin", files, ENTRY_POINTS))
    return folder / "site"


DRIVER = """
import contextlib, io, json, sys
from faithboard.cli import main

for words in json.loads(sys.argv[1]):
    sys.argv = ["faithboard", *words]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as stopped:
            code = stopped.code or 0
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""


class Shown(NamedTuple):
    """What one command came to."""

    code: int
    out: str
    err: str


def commands(site: str, *asked: Sequence[str | Path]) -> list[Shown]:
    """Commands one after the other, in a process that sees the installed packages: starting one takes seconds."""
    environment = os.environ | {"PYTHONPATH": site, "OMP_NUM_THREADS": "1"}
    words = json.dumps([[str(word) for word in words] for words in asked])
    done = subprocess.run([sys.executable, "-c", DRIVER, words], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [Shown(*json.loads(line)) for line in done.stdout.splitlines()]


def plan(folder: Path, methods: str) -> list[str | Path]:
    task = f"{tiny.TASK_FILE}:TINY"
    return ["plan", "--suite", "quick", "--tasks", task, "--results", folder / "results", "--methods", methods]


@pytest.mark.slow
def test_what_is_installed_is_listed_runs_by_its_name_and_hurts_only_whoever_asks(site: Path, tmp_path: Path) -> None:
    words = ["--tasks", "weather", "--models", "bag-of-words", "--methods", "random,dice", "--metrics", "halves"]
    folders: list[str | Path] = ["--results", tmp_path / "results", "--leaderboards", tmp_path / "boards", "--no-track"]
    listed, run, *broken = commands(
        str(site),
        ["list", "methods"],
        ["run", "--suite", "quick", *words, "--examples", "20", *folders],
        *(plan(tmp_path, f"random,{name}") for name in BAD),
    )
    # Listing loads nothing: the broken ones stand beside the others.
    assert listed.code == 0
    assert "dice (faithboard_plugin.methods:dice)" in listed.out
    assert "broken (faithboard_plugin.broken:method)" in listed.out
    assert "gradient-l2" in listed.out

    assert run.code == 0, run.err
    assert "weather: bag-of-words, standard training" in run.out
    assert "halves" in run.out
    assert "dice" in run.out

    for message, shown in zip(BAD.values(), broken, strict=True):
        assert shown.code == 2
        assert message in shown.err
        assert "Traceback" not in shown.err


BAD = {
    "broken": "No module named 'a_package_that_is_not_here'",
    "exits": "does not import",
    "lost": "has no attribute 'lost'; known: dice",
    "dise": "unknown method 'dise': did you mean dice",
}


@pytest.mark.slow
def test_two_packages_of_one_name_hurt_nobody_else(site: Path, tmp_path: Path) -> None:
    other = {"other_plugin.py": METHODS}
    installed(tmp_path, wheel(tmp_path, "other_plugin", other, "[faithboard.methods]\ndice = other_plugin:dice\n"))
    listed, without, asked, by_place = commands(
        f"{site}{os.pathsep}{tmp_path}",
        ["list", "methods"],
        *(plan(tmp_path, methods) for methods in ("random", "random,dice", "random,other_plugin:dice")),
    )
    assert "dice (faithboard_plugin.methods:dice or other_plugin:dice)" in listed.out
    assert (listed.code, without.code, by_place.code) == (0, 0, 0)
    assert asked.code == 2
    assert "two installed packages offer the method 'dice'" in asked.err
