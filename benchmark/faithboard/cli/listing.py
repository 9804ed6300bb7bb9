"""What can be named: tasks, methods, metrics, models and suites, as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tabulate import tabulate

from faithboard import resolve, suites
from faithboard.errors import DataError, SuiteError, near
from faithboard.task import SPLITS, Task

SHORT = 8
"""Digits that are shown of a key."""


def listed(what: str, data: Path | None, results: Path) -> str:
    """The table of one kind of thing. Raises SuiteError for an unknown kind."""
    kinds: dict[str, Callable[[], str]] = {
        "tasks": lambda: _tasks(data),
        "methods": _methods,
        "metrics": _metrics,
        "models": lambda: _models(results),
        "trainings": _trainings,
        "suites": _suites,
    }
    if what not in kinds:
        raise SuiteError(f"cannot list {what!r}: {near(what, kinds)}")
    return kinds[what]()


def _tasks(data: Path | None) -> str:
    if data is not None and not data.is_dir():
        raise SuiteError(f"there is no data root {data}")
    rows = []
    for name, one in sorted(resolve.builtin("task").items()):
        task = one.value
        here = _here(task, data)
        published = " / ".join(f"{task.published_rows[split]:,}" for split in SPLITS if split in task.published_rows)
        source = task.source
        rows.append((name, source.title, source.licence, source.access, published or "-", task.performance, here))
    headers = ("task", "source", "licence", "access", "published rows", "measure", "here")
    note = f"data root: {data}" if data else "no data root given (--data or FAITHBOARD_DATA)"
    text = tabulate(rows, headers, tablefmt="simple", disable_numparse=True, maxcolwidths=[None, 30, 36, None, None])
    return text + _installed("task") + f"\npublished rows: {' / '.join(SPLITS)}\n{note}"


def _here(task: Task, data: Path | None) -> str:
    """`yes`, `incomplete` (its folder is there, some file is not), `embedded` or `no`."""
    from faithboard.readers.files import data_folder, find

    if data is not None and task.read is not None and data_folder(data, task) is not None:
        try:
            find(data, task)
        except DataError:
            return "incomplete"
        return "yes"
    return "embedded" if task.generate else "no"


def _methods() -> str:
    rows = []
    for name, one in sorted(resolve.builtin("method").items()):
        method = one.value
        sign = "signed" if method.signed else "unsigned"
        rows.append((name, method.kind, sign, ", ".join(sorted(method.needs)) or "-", method.draws, method.source))
    return _table(rows, ("method", "kind", "sign", "needs", "draws", "source"), "method")


def _metrics() -> str:
    arrows = {"higher": "↑", "lower": "↓", "neither": ""}
    rows = [
        (name, f"v{one.value.version}", arrows[one.value.better], one.value.source)
        for name, one in sorted(resolve.builtin("metric").items())
    ]
    return _table(rows, ("metric", "version", "better", "source"), "metric")


def _models(results: Path) -> str:
    from faithboard.deviations import deviations
    from faithboard.models import names
    from faithboard.store import Store

    text = "models: " + ", ".join(names()) + _installed("model")
    if not results.is_dir():
        return f"{text}\n\nno results folder {results}: nothing is trained"
    rows = [
        (
            one.task,
            one.model,
            one.training,
            one.seed,
            one.performance_measure,
            f"{one.performance[one.performance_measure]:.3f}" if one.status == "ok" else one.status,
            "passed" if one.gate_passed else "not passed",
            deviations(one.config, one.model, one.training, one.task) or "-",
            one.key[:SHORT],
        )
        for one in sorted(
            Store(results, writable=False).models(),
            key=lambda one: (one.task, one.model, one.training, one.seed, one.key),
        )
    ]
    headers = ("task", "model", "training", "seed", "measure", "test", "accuracy gate", "settings", "key")
    trained = tabulate(rows, headers, tablefmt="simple", disable_numparse=True) if rows else "nothing is trained"
    note = "settings: what is not as the profile of the task has it, and what a masking training masks"
    return f"{text}\n\nin {results}:\n{trained}" + (f"\n{note}" if rows else "")


def _trainings() -> str:
    rows = [(name, one.value.source) for name, one in sorted(resolve.builtin("training").items())]
    return _table(rows, ("training", "source"), "training")


def _suites() -> str:
    rows = []
    for name in suites.names():
        one = suites.load(name)
        size = f"{len(one.tasks)} tasks, {len(one.models)} models, {len(one.methods)} methods, {len(one.seeds)} seeds"
        rows.append((name, f"v{one.version}", size, one.examples, one.description))
    return tabulate(rows, ("suite", "version", "size", "examples", "description"), tablefmt="simple")


def _table(rows: Sequence[tuple[object, ...]], headers: tuple[str, ...], kind: resolve.Kind) -> str:
    return tabulate(rows, headers, tablefmt="simple", disable_numparse=True) + _installed(kind)


def _installed(kind: resolve.Kind) -> str:
    offered = [f"{name} ({' or '.join(places)})" for name, places in sorted(resolve.installed(kind).items())]
    return f"\ninstalled: {', '.join(offered)}" if offered else ""
