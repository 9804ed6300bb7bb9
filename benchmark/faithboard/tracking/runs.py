"""A run as MLflow is to show it, and what all runs of one trained model have in common. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from faithboard.records import Explanation
from faithboard.report import layout, markdown
from faithboard.stats import Table

if TYPE_CHECKING:
    import pandas as pd

LAYOUT = 3
"""Raised when runs are laid out in another way, so that a sync replaces what an older version wrote."""


@dataclass(frozen=True)
class Point:
    """One value of a metric; `step` is a seed, a percentage, or 0 for a value that stands alone."""

    metric: str
    value: float
    step: int = 0


@dataclass(frozen=True)
class Run:
    """One method on one trained model, or the probes of that model, in every seed."""

    name: str
    identity: str
    """What the run is about: another content under the same identity replaces it."""
    status: str
    """`FINISHED`, or `FAILED` when the method has no value in any metric."""
    params: dict[str, str]
    points: tuple[Point, ...]
    tags: dict[str, str]
    rows: list[dict[str, Any]]
    """Standings (or what was found by probes) and explanations as stored; no texts, no labels."""
    page: str
    """The leaderboard of the task, as Markdown."""
    values: pd.DataFrame = field(compare=False)
    """Per-example values: seed, metric, example, value. Determined by the keys in `rows`."""

    @property
    def key(self) -> str:
        """Hash of everything above but the time of day; equal keys need no sync.

        A failure is tried, a skipped method recorded again and again: with another time they say the same.
        """
        content = {name: value for name, value in vars(self).items() if name != "values"}
        content["rows"] = [_timeless(row) for row in self.rows]
        content["points"] = [asdict(point) for point in self.points]
        text = json.dumps([LAYOUT, content], sort_keys=True, ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


def metric_name(name: str) -> str:
    """The name as MLflow allows it: letters, digits, `_ - . : /` and blank. `precision@k` is `precision-at-k`."""
    return re.sub(r"[^\w\-.:/ ]", "_", name.replace("@", "-at-"), flags=re.ASCII)


def settings_of(table: Table) -> dict[str, str]:
    """What is the same for every run of a table: the model, its training, and where speeds were measured."""
    shared = {"model": table.model, "training": table.training, "task": table.task, "vectors": table.vectors}
    shared["seeds"] = ", ".join(map(str, table.seeds))
    timing = {f"timed_{name}": str(value) for name, value in table.timing.items()}
    return {name: str(value) for name, value in table.config.items()} | timing | shared


def model_points(table: Table) -> list[Point]:
    """The performance of the model on the full test split, mean over seeds."""
    reached = table.performance.get(table.performance_measure)
    name = f"model/{metric_name(table.performance_measure)}"
    return [Point(name, sum(reached) / len(reached))] if reached else []


def origin_tags(table: Table, sources: Sequence[Explanation]) -> dict[str, str]:
    """Which suite, data, device and weights a run is of."""
    tags = {
        "faithboard.suites": f"{table.suite} v{table.suite_version}",
        "faithboard.data": f"{table.fingerprint_name} {table.fingerprint}",
        "faithboard.device": table.device,
        "faithboard.gate": "passed" if table.gate_passed else "not passed",
    }
    tags |= {f"faithboard.weights.{e.seed}": e.weights_sha256 for e in sources if e.weights_sha256}
    # Said even when there is none, so that runs can be searched for those without.
    reservations = {"faithboard.reservations": layout.reservations(table)}
    return {name: value for name, value in tags.items() if value} | reservations


def note(table: Table, text: str) -> str:
    """What MLflow shows as the description of a run: `text`, after what must stand beside every figure of its table."""
    return "\n\n".join(part for part in (markdown.plain(layout.reservations(table)), text) if part)


def values_of(sources: Sequence[Explanation], values: pd.DataFrame) -> pd.DataFrame:
    """The lines of `values` that belong to explanations, by seed: seed, metric, example, value."""
    seed_of = {explanation.key: explanation.seed for explanation in sources}
    own = values[values["explain_key"].isin(list(seed_of))]
    columns = [column for column in ("metric", "example", "value", "points") if column in own]
    return own[columns].assign(seed=own["explain_key"].map(seed_of))


def _timeless(row: Mapping[str, Any]) -> dict[str, Any]:
    provenance = {name: value for name, value in row.get("provenance", {}).items() if name != "time"}
    return {**row, "provenance": provenance}
