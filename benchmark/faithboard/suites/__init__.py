"""A suite: tasks x models x trainings x methods x metrics x seeds, with a budget. Written in TOML, never in code."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from faithboard.errors import SuiteError, near
from faithboard.keys import digest


@dataclass(frozen=True)
class Suite:
    """What a leaderboard is made of. `name` and `version` are its identity; a change of content needs a new version."""

    name: str
    version: int
    description: str
    tasks: tuple[str, ...]
    models: tuple[str, ...]
    methods: tuple[str, ...]
    metrics: tuple[str, ...]
    seeds: tuple[int, ...]
    examples: int
    """Test examples explained per task: the first n in the order of their hash."""
    budget: int
    """Most token steps (forward and backward) of one explanation; `plan` refuses what is over."""
    trainings: tuple[str, ...] = ("standard",)
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Overrides of model and training settings for every task."""
    task_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The same for single tasks, by the reference or the name of the task."""
    models_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Models beside `models` for single tasks, by the reference or the name of the task."""
    examples_of: Mapping[str, int] = field(default_factory=dict)
    """Test examples of single tasks instead of `examples`, named the same way."""
    origin: str | None = None
    """Where its data must come from (`files`, `hub`, `generated`); None takes what is there."""

    def models_for(self, *names: str) -> tuple[str, ...]:
        """Models of a task of these names: those of every task, then its own."""
        own = [model for name in names for model in self.models_of.get(name, ())]
        return tuple(dict.fromkeys([*self.models, *own]))

    def examples_for(self, *names: str) -> int:
        """Test examples explained of a task of these names."""
        return next((self.examples_of[name] for name in names if name in self.examples_of), self.examples)

    @property
    def every_model(self) -> tuple[str, ...]:
        """Models of all its tasks."""
        return self.models_for(*self.models_of)

    def settings_for(self, *names: str) -> dict[str, Any]:
        """Overrides that hold for a task of these names: those for every task, then its own."""
        own = [self.task_settings.get(name, {}) for name in dict.fromkeys(names)]
        return {key: value for settings in (self.settings, *own) for key, value in settings.items()}

    @property
    def title(self) -> str:
        return f"{self.name} v{self.version}"


_LISTS = {"tasks": str, "models": str, "methods": str, "metrics": str, "trainings": str, "seeds": int}
_PLAIN = {"name": str, "version": int, "description": str, "origin": str, "examples": int, "budget": int}
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*")
_MAY_BE_EMPTY = ("methods",)
"""Lists that need no entry: a suite without methods trains models and asks probes of them."""
_TABLES = ("settings", "models_of", "examples_of")
_ORIGINS = ("files", "hub", "generated")
_REQUIRED = ("name", "version", "tasks", "models", "methods", "metrics", "seeds", "examples", "budget")
_FOLDER = files("faithboard") / "suites"


def names() -> list[str]:
    """Names of the built-in suites."""
    return sorted(Path(entry.name).stem for entry in _FOLDER.iterdir() if entry.name.endswith(".toml"))


def load(reference: str) -> Suite:
    """A built-in suite by name, or one from a `.toml` file.

    Raises SuiteError for an unknown name or key (with near ones), a wrong type, or a file that is no TOML.
    """
    if reference.endswith(".toml"):
        path = Path(reference).expanduser()
        if not path.is_file():
            raise SuiteError(f"there is no suite file {path}")
        return parse(path.read_text(encoding="utf-8"), str(path))
    if reference not in names():
        raise SuiteError(f"unknown suite {reference!r}: {near(reference, names())}; or give the path of a .toml file")
    return parse((_FOLDER / f"{reference}.toml").read_text(encoding="utf-8"), reference)


def parse(text: str, where: str) -> Suite:
    """A suite from TOML text; `where` names it in messages. Raises SuiteError."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SuiteError(f"{where} is not valid TOML: {error}") from error
    known = {f.name for f in fields(Suite)} - {"task_settings"}
    for key in content:
        if key not in known:
            raise SuiteError(f"{where}: unknown key {key!r}; {near(key, known)}")
    missing = [key for key in _REQUIRED if key not in content]
    if missing:
        raise SuiteError(f"{where}: missing {', '.join(missing)}; a suite needs {', '.join(_REQUIRED)}")
    values: dict[str, Any] = {"description": ""}
    for key, value in content.items():
        if key in _LISTS:
            values[key] = _list(where, key, value, _LISTS[key])
        elif key not in _TABLES:
            values[key] = _plain(where, key, value, _PLAIN[key])
    tasks = values["tasks"]
    common, own = _settings(where, content.get("settings", {}), tasks)
    more = {
        task: _list(where, f"models_of.{task}", models, str)
        for task, models in _per_task(where, "models_of", content.get("models_of", {}), tasks).items()
    }
    counts = {
        task: _plain(where, f"examples_of.{task}", count, int)
        for task, count in _per_task(where, "examples_of", content.get("examples_of", {}), tasks).items()
    }
    suite = Suite(**values, settings=common, task_settings=own, models_of=more, examples_of=counts)
    if not _NAME.fullmatch(suite.name):
        raise SuiteError(f"{where}: name {suite.name!r} must be made of [a-z0-9_.-]: files are called by it")
    if suite.origin not in (None, *_ORIGINS):
        raise SuiteError(f"{where}: unknown origin {suite.origin!r}; {near(suite.origin, _ORIGINS)}")
    if min(suite.seeds) < 0:
        raise SuiteError(f"{where}: seeds must not be negative")
    if min(suite.examples, suite.budget, *suite.examples_of.values()) < 1:
        raise SuiteError(f"{where}: examples and budget must be at least 1")
    return suite


def changed(
    suite: Suite,
    *,
    tasks: Sequence[str] = (),
    models: Sequence[str] = (),
    methods: Sequence[str] = (),
    metrics: Sequence[str] = (),
    trainings: Sequence[str] = (),
    seeds: Sequence[int] = (),
    examples: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Suite:
    """The suite with what the command line asks for.

    Fewer or other tasks, models, trainings, methods and metrics leave its identity: their rows stand in the same
    tables. Other seeds, examples or settings do not compare with it, so the result is called `custom` with a hash.
    Models or a number of examples that are asked for hold for every task alike.
    """
    selected = replace(
        suite,
        tasks=tuple(tasks) or suite.tasks,
        models=tuple(models) or suite.models,
        models_of={} if models else suite.models_of,
        methods=tuple(methods) or suite.methods,
        metrics=tuple(metrics) or suite.metrics,
        trainings=tuple(trainings) or suite.trainings,
    )
    other = replace(
        selected,
        seeds=tuple(seeds) or suite.seeds,
        examples=examples or suite.examples,
        examples_of={} if examples else suite.examples_of,
        settings=dict(suite.settings) | dict(settings or {}),
    )
    if min(other.seeds) < 0:
        raise SuiteError("seeds must not be negative")
    for name in ("tasks", "models", "methods", "metrics", "trainings", "seeds"):
        chosen = getattr(other, name)
        if len(set(chosen)) < len(chosen):
            raise SuiteError(f"{name} names something twice: {', '.join(map(str, chosen))}")
    if other == selected:
        return selected
    identity = [suite.name, suite.version, list(other.seeds), other.examples, dict(other.settings)]
    identity += [dict(other.examples_of)] if other.examples_of else []
    return replace(other, name=f"custom-{digest(identity)[:6]}", version=1, description=f"{suite.title} with changes")


def models_only(suite: Suite) -> Suite:
    """The models of a suite with nothing asked of them: its results are how good they are."""
    return replace(suite, name=f"{suite.name}-models", methods=(), metrics=())


def _list(where: str, key: str, value: Any, kind: type) -> tuple[Any, ...]:
    if not isinstance(value, list) or not (value or key in _MAY_BE_EMPTY) or any(type(v) is not kind for v in value):
        raise SuiteError(f"{where}: {key} must be a list of at least one {kind.__name__}, got {value!r}")
    if len(set(value)) < len(value):
        raise SuiteError(f"{where}: {key} names something twice: {value!r}")
    return tuple(value)


def _plain(where: str, key: str, value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise SuiteError(f"{where}: {key} must be {kind.__name__}, got {value!r}")
    return value


def _settings(where: str, value: Any, tasks: Sequence[str]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    if not isinstance(value, dict):
        raise SuiteError(f"{where}: settings must be a table, got {value!r}")
    own = {key: entry for key, entry in value.items() if isinstance(entry, dict)}
    _per_task(where, "settings", own, tasks)
    return {key: entry for key, entry in value.items() if key not in own}, own


def _per_task(where: str, key: str, value: Any, tasks: Sequence[str]) -> dict[str, Any]:
    """A table by task. A reference such as `file.py:TASK` may stand for any name, so with one all names are taken."""
    if not isinstance(value, dict):
        raise SuiteError(f"{where}: {key} must be a table, got {value!r}")
    for task in value:
        if task not in tasks and all(":" not in reference for reference in tasks):
            raise SuiteError(f"{where}: {key} for {task!r}, which is no task of the suite; {near(task, tasks)}")
    return value
