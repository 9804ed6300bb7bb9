"""Two methods compared on what is stored: nothing is trained or explained."""

from __future__ import annotations

from collections.abc import Iterable

from faithboard.errors import SuiteError, near
from faithboard.resolve import DATA_FILE, Kind, builtin, installed, resolve
from faithboard.stats.duel import Duel, duels
from faithboard.stats.entries import BASELINE
from faithboard.store import Store


def compared(
    store: Store, a: str, b: str, *, task: str = "", suite: str = "", model: str = "", training: str = ""
) -> list[Duel]:
    """Every metric of every trained model that both methods explain, suite by suite; nothing for an empty choice.

    A method, task or model is a name or `file.py:attribute`, which stands for the name that the file defines; a task
    may be a file of data too.

    Raises ResolveError for a reference that leads nowhere, DataError for a file of data that is no task. Raises
    SuiteError for a suite, method, task, model or training that is not in the results (with near names, or the command
    that runs a method or task that exists), for a method against itself, and when the two have no example on equal
    weights in common.
    """
    references = (a, b)
    a, b = (_name("method", one) for one in references)
    asked_task, task, model = task, _name("task", task), _name("model", model)
    if a == b:
        raise SuiteError(f"{a} cannot be compared with itself")
    suites = [one for one in store.suites() if suite in ("", one.name, f"{one.name}-v{one.version}")]
    if not suites:
        known = [f"{one.name}-v{one.version}" for one in store.suites()]
        hint = near(suite, known) if known else "`faithboard run` makes some"
        raise SuiteError(f"{store.root} holds no results of {f'suite {suite!r}' if suite else 'any suite'}; {hint}")
    members = {key for one in suites for key in (*one.models, *one.explanations)}
    models = {record.key: record for record in store.models() if record.key in members}
    explanations = [e for e in store.explanations() if e.key in members and e.model_key in models]
    run = f"faithboard run --results {store.root} --suite {suite.rpartition('-v')[0] or suite or suites[0].name}"
    tasks = {record.task for record in models.values()}
    if task and task not in tasks:
        _resolves("task", asked_task, tasks)
        raise SuiteError(_not_run(task, str(store.root), f"{run} --tasks {asked_task}", tasks))
    for method, reference in zip((a, b), references, strict=True):
        there = {e.method for e in explanations if e.method and task in ("", models[e.model_key].task)}
        if method not in there:
            _resolves("method", reference, there)
            where = f"{task} in {store.root}" if task else str(store.root)
            command = f"{run} --tasks {asked_task}" if task else run
            raise SuiteError(_not_run(method, where, f"{command} --methods {reference}", there))
    _known("model", model, (record.model for record in models.values()), store)
    _known("training", training, (record.training for record in models.values()), store)
    asked = {
        key: record
        for key, record in models.items()
        if task in ("", record.task) and model in ("", record.model) and training in ("", record.training)
    }
    explanations = [e for e in explanations if e.method in (a, b, BASELINE) and e.model_key in asked]
    values = {
        (e.key, str(metric)): lines.set_index("example")["value"]
        for e in explanations
        for metric, lines in store.values(e.key).groupby("metric")
    }
    fought: list[Duel] = []
    refused: list[str] = []
    for one in suites:
        found = duels(
            one.name,
            one.version,
            [record for key, record in asked.items() if key in one.models],
            [e for e in explanations if e.key in one.explanations],
            {place: series for place, series in values.items() if place[1] in one.metrics},
            a,
            b,
        )
        fought += found.fought
        refused += found.refused
    if not fought:
        why = "\n".join(f"  {reason}" for reason in refused) or "  no trained model is explained by both"
        raise SuiteError(f"{a} and {b} have no example on equal weights in common:\n{why}")
    return fought


def _name(kind: Kind, reference: str) -> str:
    # A name may be of results whose definition is no longer here, so only what must lead to a file is resolved.
    leads = ":" in reference or (kind == "task" and reference.endswith(DATA_FILE))
    return resolve(kind, reference).name if leads else reference


def _resolves(kind: Kind, reference: str, stored: Iterable[str]) -> None:
    """Raise SuiteError for a name that leads to no definition, with near ones, stored or built in."""
    if ":" in reference or reference in installed(kind) or (kind == "task" and reference.endswith(DATA_FILE)):
        return
    ours = builtin(kind)
    if reference not in ours:
        raise SuiteError(f"unknown {kind} {reference!r}: {near(reference, {*ours, *installed(kind), *stored})}")


def _not_run(name: str, where: str, command: str, stored: Iterable[str]) -> str:
    return f"{name!r} was not run on {where}; run it: {command} (stored: {', '.join(sorted(stored)) or 'none'})"


def _known(what: str, name: str, known: Iterable[str], store: Store) -> None:
    names = set(known)
    if name and name not in names:
        hint = near(name, names) if names else "there are none"
        raise SuiteError(f"{store.root} holds no results of the {what} {name!r}; {hint}")
