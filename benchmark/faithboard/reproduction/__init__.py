"""Published experiments made again: our numbers beside theirs, a verdict for each, and their claims one by one.

results of a suite -> lines (pure statistics) -> page (pure) and figures

One package per reproduction; what they share lies here: lines as files (`files.py`), the look of figures (`style.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from faithboard.errors import SuiteError, near

if TYPE_CHECKING:
    import torch

    from faithboard.plan import Plan
    from faithboard.reproduction.files import Form
    from faithboard.store import Store


@dataclass(frozen=True)
class Shown:
    """What a report made."""

    text: str
    page: Path
    notes: tuple[str, ...]


class Report(Protocol):
    """Writes the page `name` about everything stored of the plan's suite; with `restrict` the text is about the plan's
    tasks alone. Nothing is trained.

    Raises SuiteError when nothing of it is stored, with the reasons.
    """

    def __call__(
        self, plan: Plan, store: Store, device: torch.device, leaderboards: Path, name: str, *, restrict: bool = False
    ) -> Shown: ...


@dataclass(frozen=True)
class Reproduction:
    """A paper whose experiments are made again."""

    suite: str | None
    """What is run for it; None for a page that is made of leaderboards alone."""
    package: str
    """Below this one. Its module `form` has `FORM`; its module `reporting` has `report`, or `report_boards` where no
    suite is run."""

    @property
    def report(self) -> Report:
        return cast("Report", self._reporting.report)

    @property
    def report_boards(self) -> Callable[[Path, str], Shown]:
        """Writes the page of a name from the leaderboards of a folder. Raises SuiteError when there are none."""
        return cast("Callable[[Path, str], Shown]", self._reporting.report_boards)

    @property
    def _reporting(self) -> Any:
        return import_module(f"{__name__}.{self.package}.reporting")

    @property
    def form(self) -> Form:
        return cast("Form", import_module(f"{__name__}.{self.package}.form").FORM)


REPRODUCTIONS = {
    "attention-is-not-explanation": Reproduction("attention-is-not-explanation", "attention"),
    "saliency-guided-training": Reproduction("saliency-guided-training", "saliency_guided"),
    "elephant": Reproduction(None, "elephant"),
}


def reproduction(name: str) -> Reproduction:
    """A reproduction by name. Raises SuiteError for an unknown one, with near names."""
    if name not in REPRODUCTIONS:
        raise SuiteError(f"unknown reproduction {name!r}: {near(name, REPRODUCTIONS)}")
    return REPRODUCTIONS[name]
