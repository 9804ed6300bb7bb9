"""From what is stored of a suite to the page, the figures and the text of a terminal. The edge of this package."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from faithboard.errors import SuiteError
from faithboard.reproduction import Shown
from faithboard.reproduction.files import lines_folder
from faithboard.reproduction.lines import FigureLine
from faithboard.reproduction.reporting import drawn, reported
from faithboard.reproduction.saliency_guided.form import FORM
from faithboard.reproduction.saliency_guided.lines import CurveLine, Reproduction
from faithboard.reproduction.saliency_guided.making import reproduction_of
from faithboard.reproduction.saliency_guided.page import console_report, restricted
from faithboard.reproduction.stored import reasons
from faithboard.results import results_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from faithboard.plan import Plan
    from faithboard.store import Store


def report(
    plan: Plan, store: Store, device: torch.device, leaderboards: Path, name: str, *, restrict: bool = False
) -> Shown:
    """Write the page `name` about everything stored of the plan's suite; with `restrict` the text is about the plan's
    tasks alone. Nothing is trained.

    Raises SuiteError when nothing is scored on any model, with the reasons.
    """
    folder = lines_folder(leaderboards, name)
    made, page, notes = reported(
        FORM, Path(__file__).parent, plan, store, folder, lambda hashed: _made(plan, store, folder, hashed)
    )
    asked = {job.prepared.task.name for job in plan.jobs}
    return Shown(console_report(restricted(made, asked) if restrict else made), page, notes)


def _made(plan: Plan, store: Store, folder: Path, made_of: str) -> tuple[Reproduction, tuple[str, ...]]:
    """The lines, with the figures drawn into `folder`, and what has to be said about them."""
    title = f"{plan.suite.name}-v{plan.suite.version}"
    if not any((one.name, one.version) == (plan.suite.name, plan.suite.version) for one in store.suites()):
        raise SuiteError(f"there is nothing to reproduce: nothing of {title} is stored; {reasons(plan)}")
    made = reproduction_of(results_of(store, title), plan.suite, made_of)
    if not made.values:
        raise SuiteError(f"there is nothing to reproduce: no method is scored on any model; {reasons(plan)}")
    figures, notes = drawn(lambda: _draw(made.curves, folder))
    return replace(made, figures=figures), notes


def _draw(curves: Sequence[CurveLine], folder: Path) -> list[FigureLine]:
    from faithboard.reproduction.saliency_guided.figures import draw

    return draw(curves, folder)
