"""From what a person asks for to a plan: definitions are resolved, data loaded and sampled, the store looked through.

The command line is a thin layer over these functions.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast, get_args

import torch

from faithboard import resolve
from faithboard.allocation import keep_freed_memory
from faithboard.config import configured
from faithboard.data import TaskData, load, sample
from faithboard.data.collate import collate
from faithboard.data.embeddings import source_id
from faithboard.errors import SuiteError
from faithboard.plan import Plan, Prepared
from faithboard.planning import make_plan
from faithboard.planning.models import checked
from faithboard.readers.files import data_folder
from faithboard.running.progress import Progress
from faithboard.running.provenance import provenance
from faithboard.sources import submitted_sources
from faithboard.store import Store
from faithboard.suites import Suite
from faithboard.task import Task

Origin = Literal["auto", "files", "hub", "generated"]


@dataclass(frozen=True)
class Place:
    """Where data comes from, where results go, and what computes."""

    store: Store
    device: torch.device
    data: Path | None = None
    """The data root: `<root>/<folder of the task>/` holds published files."""
    origin: Origin = "auto"
    """See `data.load`."""


def chosen_device(name: str, threads: int = 1) -> torch.device:
    """`auto` is the GPU where there is one; `threads` are those of the CPU. Raises SuiteError for an absent device."""
    torch.set_num_threads(threads)
    if name == "auto":
        return _set_up(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise SuiteError(f"unknown device {name!r}; use auto, cpu or cuda") from error
    if device.type not in ("cpu", "cuda"):
        raise SuiteError(f"device {name!r} is not supported; use auto, cpu or cuda")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise SuiteError("device cuda was asked for, but torch sees no GPU; use --device cpu")
    return _set_up(device)


def _set_up(device: torch.device) -> torch.device:
    """The device with TF32 off: scores must not depend on which of two kernels a layer happens to use.

    A CPU keeps the memory that is freed.
    """
    if device.type == "cpu":
        keep_freed_memory()
    else:
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
    return device


def chosen_origin(name: str) -> Origin:
    """Raises SuiteError for anything but an origin of data."""
    if name not in get_args(Origin):
        raise SuiteError(f"unknown origin of data {name!r}; use {', '.join(get_args(Origin))}")
    return cast(Origin, name)


def is_here(task: Task, place: Place) -> bool:
    """Whether the data of a task can be loaded without asking the hub: its own or published files, or a generator."""
    if task.own_file is not None:
        return True
    if place.data is not None and place.origin in ("auto", "files") and data_folder(place.data, task) is not None:
        return True
    return task.generate is not None and place.origin in ("auto", "generated")


def prepared(task: str, place: Place, suite: Suite, progress: Progress) -> Prepared:
    """A task by reference: loaded (or taken from the cache), sampled and measured. Raises ResolveError or DataError."""
    definition = resolve.resolve("task", task).value
    examples = suite.examples_for(task, definition.name)
    data = load(definition, cache=place.store.root, root=place.data, origin=place.origin)
    progress.say(describe(data))
    chosen = sample(data, "test", examples)
    if len(chosen) < examples:
        progress.say(f"{data.task.name}: {len(chosen):,} test examples are all there are ({examples:,} asked for)")
    lengths = collate(chosen, data.vocabulary, data.task).scorable_lengths.tolist()
    return Prepared(data, chosen, lengths, reference=task)


def plan_suite(
    suite: Suite,
    place: Place,
    progress: Progress,
    *,
    retry_failed: bool = False,
    over_budget: bool = False,
    skip_missing: bool = False,
) -> Plan:
    """Everything the suite asks for, against what is stored. Raises a FaithboardError for whatever makes no sense.

    With `skip_missing`, tasks whose data is not here are said and left out, unless that leaves none.
    """
    methods = resolve.resolve_all("method", suite.methods)
    metrics = resolve.resolve_all("metric", suite.metrics)
    trainings = resolve.resolve_all("training", suite.trainings)
    submitted = resolve.submitted_models(suite.every_model)
    place.store.check_suite(suite)
    if suite.origin is not None and place.origin == "auto":
        place = replace(place, origin=chosen_origin(suite.origin))
    references = _present(suite, place, progress, skip_missing=skip_missing)
    _check_models(suite, references, trainings, submitted)
    ready = [prepared(reference, place, suite, progress) for reference in references]
    asked = resolve.asked_trainings(methods, trainings)
    plan = make_plan(
        suite,
        ready,
        methods,
        metrics,
        trainings,
        asked,
        place.store.index(),
        _vectors(submitted, suite, ready),
        provenance(place.device),
        submitted=submitted,
        retry_failed=retry_failed,
        over_budget=over_budget,
    )
    tasks = resolve.resolve_all("task", [one.reference for one in ready if ":" in one.reference])
    of_kind: dict[resolve.Kind, Iterable[resolve.Resolved]] = {
        "task": tasks,
        "model": submitted.values(),
        "training": [*trainings, *asked],
        "method": methods,
        "metric": metrics,
    }
    return replace(plan, sources=submitted_sources((kind, one) for kind, found in of_kind.items() for one in found))


def _present(suite: Suite, place: Place, progress: Progress, *, skip_missing: bool) -> list[str]:
    """References of the tasks that are run."""
    tasks = resolve.resolve_all("task", suite.tasks)
    if len(tasks) < len(suite.tasks):
        raise SuiteError(f"the suite names a task twice: {', '.join(suite.tasks)}")
    here = [
        reference
        for reference, task in zip(suite.tasks, tasks, strict=True)
        if not skip_missing or place.origin == "hub" or is_here(task.value, place)
    ]
    missing = [name for name in suite.tasks if name not in here]
    if missing and here:
        root = f"below {place.data}" if place.data else "without a data root (--data or FAITHBOARD_DATA)"
        progress.say(f"left out, their data is not here {root}: {', '.join(missing)}")
    return here or list(suite.tasks)


def _check_models(
    suite: Suite, references: Sequence[str], trainings: Iterable[resolve.Resolved], submitted: Container[str]
) -> None:
    """Raise SuiteError for models and settings that make no sense, before any data is read."""
    for reference, task in zip(references, resolve.resolve_all("task", references), strict=True):
        for name in suite.models_for(reference, task.value.name):
            for training in trainings:
                if name not in submitted:
                    checked(suite, reference, task.value, name, training.value)


def describe(data: TaskData) -> str:
    """One line about the data of a task: origin, rows per split, what was left out."""
    rows = []
    for split, counts in data.counts.items():
        published = data.task.published_rows.get(split)
        of = f" ({counts.here:,} here of {published:,} published)" if published and published != counts.here else ""
        rows.append(f"{split} {counts.used:,}{of}")
    left = sum(c.excluded_rule + c.excluded_short + c.excluded_long for c in data.counts.values())
    cut = sum(c.truncated for c in data.counts.values())
    notes = [f"{left:,} excluded by rule or length"] if left else []
    notes += [f"{cut:,} truncated"] if cut else []
    notes += [f"{' and '.join(data.cut)} cut off the training texts by content"] if data.cut else []
    known = data.fingerprint_name if data.fingerprint_name != "unverified" else "UNVERIFIED content"
    return f"{data.task.name}: {data.origin} ({known}); " + ", ".join(rows + notes)


def _vectors(submitted: Container[str], suite: Suite, ready: Sequence[Prepared]) -> Mapping[str, str]:
    sources = {
        configured(model, one.task.profile, suite.settings_for(one.reference, one.task.name))[0].vectors
        for one in ready
        for model in suite.models_for(one.reference, one.task.name)
        if model not in submitted
    }
    return {source: source_id(source) for source in sorted(sources)}
