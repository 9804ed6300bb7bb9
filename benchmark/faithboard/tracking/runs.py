"""One flat run per task x model x training x method, as MLflow is to show it. Pure: standings in, a run out.

Names of metrics put `/` behind what belongs together, as MLflow's charts group by it: `comprehensiveness` is the mean
to compare runs by, `rank/...` and `interval-low/...` stand beside it, `seed/...` has one step per seed, `curve/...` one
step per point of an erasure curve (per cent of the tokens), `cost/...` and `model/...` say what they say.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from faithboard.records import Explanation
from faithboard.report import markdown
from faithboard.stats import Standing, Table

if TYPE_CHECKING:
    import pandas as pd

LAYOUT = 1
"""Raised when runs are laid out in another way, so that a sync replaces what an older version wrote."""


@dataclass(frozen=True)
class Point:
    """One value of a metric; `step` is a seed, a percentage, or 0 for a value that stands alone."""

    metric: str
    value: float
    step: int = 0


@dataclass(frozen=True)
class Run:
    """One method on one trained model, in every seed."""

    name: str
    identity: str
    """What the run is about: another content under the same identity replaces it."""
    status: str
    """`FINISHED`, or `FAILED` when the method has no value in any metric."""
    params: dict[str, str]
    points: tuple[Point, ...]
    tags: dict[str, str]
    rows: list[dict[str, Any]]
    """Standings and explanations as stored; no texts, no labels."""
    page: str
    """The leaderboard of the task, as Markdown."""
    values: pd.DataFrame = field(compare=False)
    """Per-example values: seed, metric, example, value. Determined by the keys in `rows`."""

    @property
    def key(self) -> str:
        """Hash of everything above; equal keys need no sync."""
        content = {name: value for name, value in vars(self).items() if name != "values"}
        content["points"] = [asdict(point) for point in self.points]
        text = json.dumps([LAYOUT, content], sort_keys=True, ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


def metric_name(name: str) -> str:
    """The name as MLflow allows it: letters, digits, `_ - . : /` and blank. `precision@k` is `precision-at-k`."""
    return re.sub(r"[^\w\-.:/ ]", "_", name.replace("@", "-at-"), flags=re.ASCII)


def run_of(
    table: Table,
    name: str,
    standings: Sequence[Standing],
    sources: Sequence[Explanation],
    page: str,
    values: pd.DataFrame,
) -> Run:
    """The run of one method: its standings in `table`, its explanations (`sources`), its part of `values`."""
    sources = sorted(sources, key=lambda explanation: explanation.seed)
    seed_of = {explanation.key: explanation.seed for explanation in sources}
    own = values[values["explain_key"].isin(list(seed_of))]
    columns = [column for column in ("metric", "example", "value", "points") if column in own]
    without_result = all(standing.value is None for standing in standings)
    return Run(
        name=name,
        identity=f"{table.key}/{standings[0].method}",
        status="FAILED" if without_result else "FINISHED",
        params=_params(table, standings[0], sources),
        points=tuple(point for point in _points(table, standings) if math.isfinite(point.value)),
        tags=_tags(table, standings, sources),
        rows=[standing.to_json() for standing in standings] + [explanation.to_json() for explanation in sources],
        page=page,
        values=own[columns].assign(seed=own["explain_key"].map(seed_of)),
    )


def _params(table: Table, first: Standing, sources: Sequence[Explanation]) -> dict[str, str]:
    return {
        "method": first.method,
        "model": table.model,
        "training": table.training,
        "task": table.task,
        "kind": first.method_kind,
        "signed": str(first.signed).lower(),
        "vectors": table.vectors,
        "seeds": ", ".join(map(str, table.seeds)),
        "examples": str(max(explanation.examples for explanation in sources)),
        "draws": str(max(explanation.draws for explanation in sources)),
    }


def _points(table: Table, standings: Sequence[Standing]) -> Iterable[Point]:
    for standing in standings:
        name = metric_name(standing.metric)
        alone = {
            name: standing.value,
            f"rank/{name}": standing.rank,
            f"interval-low/{name}": standing.low,
            f"interval-high/{name}": standing.high,
        }
        yield from (Point(metric, float(value)) for metric, value in alone.items() if value is not None)
        yield from (Point(f"seed/{name}", value, int(seed)) for seed, value in standing.seed_means.items())
        if all(re.fullmatch(r"\d+%", point) for point in standing.points):
            steps = [int(point[:-1]) for point in standing.points]
            yield from (Point(f"curve/{name}", v, s) for v, s in zip(standing.curve, steps, strict=False))
    first = standings[0]
    cost = {
        "forward-steps": first.forward_steps,
        "backward-steps": first.backward_steps,
        "examples-per-second": first.examples_per_second,
        "peak-memory-mb": first.peak_memory_mb,
    }
    yield from (Point(f"cost/{name}", value) for name, value in cost.items() if value is not None)
    performance = table.performance.get(table.performance_measure)
    if performance:
        yield Point(f"model/{metric_name(table.performance_measure)}", sum(performance) / len(performance))


def _tags(table: Table, standings: Sequence[Standing], sources: Sequence[Explanation]) -> dict[str, str]:
    reasons = dict.fromkeys(standing.reason for standing in standings if standing.reason)
    tags = {
        "mlflow.note.content": _note(standings),
        "faithboard.suites": f"{table.suite} v{table.suite_version}",
        "faithboard.data": f"{table.fingerprint_name} {table.fingerprint}",
        "faithboard.device": table.device,
        "faithboard.gate": "passed" if table.gate_passed else "not passed",
        "faithboard.status": standings[0].status,
        "faithboard.method_sha256": ", ".join(dict.fromkeys(e.method_sha256 for e in sources if e.method_sha256)),
    }
    tags |= {f"faithboard.weights.{e.seed}": e.weights_sha256 for e in sources if e.weights_sha256}
    if reasons:
        tags["faithboard.not_ranked"] = "; ".join(reasons)
    return {name: value for name, value in tags.items() if value}


def _note(standings: Sequence[Standing]) -> str:
    """What MLflow shows as the description of a run."""
    rows = [
        (
            one.metric,
            markdown.with_interval(one.value, one.low, one.high),
            markdown.NOTHING if one.rank is None else f"{one.rank} of {one.ranked}",
            markdown.plain(one.reason) or markdown.NOTHING,
        )
        for one in standings
    ]
    return markdown.table(("metric", "value", "rank", "not ranked because"), rows)
