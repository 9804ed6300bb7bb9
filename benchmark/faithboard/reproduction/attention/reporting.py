"""From what is stored of a suite to the page, the figures and the text of a terminal. The edge of this package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from faithboard import resolve
from faithboard.errors import StoreError, SuiteError
from faithboard.published import adversarial
from faithboard.reproduction import Shown
from faithboard.reproduction.attention.form import FORM
from faithboard.reproduction.attention.heatmaps import heatmap_lines, shown_task
from faithboard.reproduction.attention.lines import HeatmapLine, Reproduction
from faithboard.reproduction.attention.making import reproduction_of
from faithboard.reproduction.attention.measured import Measured, measured
from faithboard.reproduction.attention.page import console_report, restricted
from faithboard.reproduction.attention.variants import probed_variants, tried_lines, variants
from faithboard.reproduction.files import lines_folder, read_part
from faithboard.reproduction.lines import FigureLine
from faithboard.reproduction.reporting import drawn, reported
from faithboard.reproduction.stored import reasons
from faithboard.results import results_of

if TYPE_CHECKING:
    from faithboard.plan import Plan
    from faithboard.records import Explanation, ModelRecord
    from faithboard.store import Store
    from faithboard.task import Task


def report(
    plan: Plan, store: Store, device: torch.device, leaderboards: Path, name: str, *, restrict: bool = False
) -> Shown:
    """Write the page `name` about everything stored of the plan's suite; with `restrict` the text is about the plan's
    tasks alone. Nothing is trained.

    Raises SuiteError when no probe of any model is stored, with the reasons.
    """
    folder = lines_folder(leaderboards, name)
    others = probed_variants(store, _own(plan, store))
    made, page, notes = reported(
        FORM,
        Path(__file__).parent,
        plan,
        store,
        folder,
        lambda hashed: _made(plan, store, device, folder, hashed, others),
        beside=[probes.key for _, probes in others],
    )
    asked = {job.prepared.task.name for job in plan.jobs}
    return Shown(console_report(restricted(made, asked) if restrict else made), page, notes)


def _own(plan: Plan, store: Store) -> list[ModelRecord]:
    """The models of the plan's suite that are stored."""
    name = (plan.suite.name, plan.suite.version)
    keys = {key for one in store.suites() if (one.name, one.version) == name for key in one.models}
    return [record for record in store.models() if record.key in keys]


def _made(
    plan: Plan,
    store: Store,
    device: torch.device,
    folder: Path,
    made_of: str,
    others: Sequence[tuple[ModelRecord, Explanation]],
) -> tuple[Reproduction, tuple[str, ...]]:
    """The lines, with the figures drawn into `folder`, and what has to be said about them."""
    results = results_of(store, f"{plan.suite.name}-v{plan.suite.version}")
    found, left_out = measured(results)
    if not found:
        why = "; ".join([reasons(plan), *left_out])
        raise SuiteError(f"there is nothing to reproduce: no model has been probed; {why}")
    tasks = _tasks(plan, found)
    left_out += [
        f"{one.task}, {one.model}: left out, the definition of its task is not here, which has the names of its classes"
        for one in found
        if one.task not in tasks
    ]
    found = [one for one in found if one.task in tasks]
    found.sort(key=lambda one: _place(plan, one))
    labels = {task: definition.labels for task, definition in tasks.items()}
    made = reproduction_of(results, found, labels, plan.suite, made_of, left_out)
    tried = tried_lines(made.taus, variants(store, others, found), labels)
    heatmaps, said = _heatmaps(plan, found, tasks, store, device, folder)
    figures, notes = drawn(lambda: _draw(found, heatmaps, labels, folder))
    return replace(made, heatmaps=heatmaps, figures=figures, tried=tried), (*said, *notes)


def _tasks(plan: Plan, found: Sequence[Measured]) -> dict[str, Task]:
    """Definitions by name: those of the plan, and built-in ones of what other runs of the suite have stored."""
    own: dict[str, Task] = {job.prepared.task.name: job.prepared.task for job in plan.jobs}
    if all(one.task in own for one in found):
        return own
    return {name: one.value for name, one in resolve.builtin("task").items()} | own


def _place(plan: Plan, one: Measured) -> tuple[int, str, int, str]:
    """The order of a page: tasks and models as the suite names them."""
    suite = plan.suite
    order = [*suite.tasks, one.task]
    models = [*suite.models_for(one.task), one.model]
    return order.index(one.task), one.task, models.index(one.model), one.model


def _heatmaps(
    plan: Plan, found: Sequence[Measured], tasks: Mapping[str, Task], store: Store, device: torch.device, folder: Path
) -> tuple[list[HeatmapLine], tuple[str, ...]]:
    """Of the task whose texts are shown; those that the page has already where this run did not load the task, or its
    model came from another folder without its weights, which is said."""
    one = shown_task([one.task for one in found], found, tasks)
    if one is None:
        return [], ()
    ready = {job.prepared.task.name: job.prepared for job in plan.jobs}
    notes: tuple[str, ...] = ()
    if one.task in ready:
        try:
            return heatmap_lines(one, ready[one.task], store, device), ()
        except StoreError as error:
            notes = (f"the attention of texts is not drawn anew: {error}",)
    known = read_part(FORM, folder, "heatmaps") if (folder / "heatmaps.jsonl").is_file() else []
    return [line for line in known if line.task == one.task], notes


def _draw(
    found: Sequence[Measured], heatmaps: Sequence[HeatmapLine], labels: Mapping[str, Sequence[str]], folder: Path
) -> list[FigureLine]:
    from faithboard.reproduction.attention.figures import draw

    means = {place: known.mean for place, known in adversarial().items()}
    return draw(found, heatmaps, labels, means, folder)
