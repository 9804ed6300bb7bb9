"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from faithboard.errors import SuiteError

Results = Annotated[Path, typer.Option(help="Folder of models, scores and rows.", envvar="FAITHBOARD_RESULTS")]
Leaderboards = Annotated[Path, typer.Option(help="Folder the Markdown tables are written to.")]
SuiteName = Annotated[str, typer.Option("--suite", help="A built-in suite, or the path of a .toml file.")]
Tasks = Annotated[str, typer.Option(help="Tasks instead of the suite's, separated by commas.")]
Models = Annotated[str, typer.Option(help="Models instead of the suite's.")]
Methods = Annotated[str, typer.Option(help="Methods instead of the suite's: names, or file.py:attribute.")]
Metrics = Annotated[str, typer.Option(help="Metrics instead of the suite's.")]
Seeds = Annotated[str, typer.Option(help="Seeds of training instead of the suite's, such as 0,1,2.")]
Examples = Annotated[int | None, typer.Option(min=1, help="Test examples to explain instead of the suite's.")]
Settings = Annotated[
    list[str],
    typer.Option("--set", help="A model or training setting, such as --set epochs=4 or --set vectors=glove.txt."),
]
Data = Annotated[
    Path | None,
    typer.Option(help="Data root: <root>/<task>/ holds the published files.", envvar="FAITHBOARD_DATA"),
]
Origin = Annotated[str, typer.Option(help="Where data comes from: auto, files, hub or generated.")]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
Threads = Annotated[
    int,
    typer.Option(min=1, help="CPU threads. Trained weights depend on it; small models gain nothing from two."),
]
TrackingUri = Annotated[
    str, typer.Option(help="MLflow tracking URI instead of <results>/mlflow.db.", envvar="MLFLOW_TRACKING_URI")
]


def separated(value: str) -> list[str]:
    """`a,b` -> ["a", "b"]; nothing for an empty string."""
    return [part.strip() for part in value.split(",") if part.strip()]


def whole_numbers(value: str) -> list[int]:
    """`0,1` -> [0, 1]. Raises SuiteError for anything else."""
    try:
        return [int(part) for part in separated(value)]
    except ValueError as error:
        raise SuiteError(f"--seeds {value!r}: seeds are whole numbers separated by commas, such as 0,1,2") from error


def settings(pairs: list[str]) -> dict[str, Any]:
    """`epochs=4` -> {"epochs": 4}; a value that is no TOML is a string. Raises SuiteError without an equals sign."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise SuiteError(f"--set {pair!r}: write a setting as name=value, such as epochs=4")
        try:
            found[name.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[name.strip()] = value
    return found
