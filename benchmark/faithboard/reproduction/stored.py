"""What is stored of a suite, as a report sees it: a hash of it, and what could not be had."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from faithboard.keys import digest

if TYPE_CHECKING:
    from faithboard.plan import Plan
    from faithboard.results import Results
    from faithboard.store import Store


def made_of(plan: Plan, store: Store, package: Path, beside: Sequence[str] = ()) -> str:
    """Hash of what the lines of a reproduction are made of: models and rows, and the code of its package, of what the
    reproductions share and of the published numbers; and of the keys of what takes part `beside` the suite.

    Only records are read, no values.
    """
    shared = package.parent
    code = [*sorted(package.glob("*.py")), *sorted(shared.glob("*.py"))]
    code += sorted((shared.parent / "published").glob("*.*"))
    members = [one for one in store.suites() if (one.name, one.version) == (plan.suite.name, plan.suite.version)]
    wanted = {key for one in members for key in (*one.models, *one.explanations)}
    models = [[one.key, one.weights_sha256, one.gate_passed, one.reason] for one in store.models() if one.key in wanted]
    rows = [
        [one.key, one.weights_sha256, one.reason, sorted([row.key, row.status, str(row.value)] for row in one.rows)]
        for one in store.explanations()
        if one.key in wanted
    ]
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in code]
    return digest([list(plan.suite.seeds), sorted(models), sorted(rows), hashes, sorted(beside)])


def failures(results: Results) -> Iterator[str]:
    """What was asked for and could not be had, once for all seeds: models, and probes or methods on them."""
    said: dict[str, list[int]] = {}
    for record in results.models:
        if record.status != "ok":
            sentence = f"{_model(record.task, record.model, record.training)}: training {record.status}"
            said.setdefault(f"{sentence}: {record.reason}", []).append(record.seed)
    for one in results.explanations:
        if one.status != "ok":
            place = _model(one.task, one.model, one.training) + (f", {one.method}" if one.method else "")
            said.setdefault(f"{place}: {one.status}: {one.reason}", []).append(one.seed)
    for sentence, seeds in sorted(said.items()):
        yield f"{sentence} (seed {', '.join(map(str, sorted(seeds)))})"


def reasons(plan: Plan) -> str:
    """Why nothing is stored."""
    found = [job.reason for job in plan.jobs] + [one.reason for job in plan.jobs for one in job.explanations]
    return "; ".join(dict.fromkeys(reason for reason in found if reason)) or "the run was cut short"


def _model(task: str, model: str, training: str) -> str:
    return f"{task}, {model}" + ("" if training == "standard" else f", {training}")
