"""One flat run per task x model x training x method. Pure: standings in, a run out.

Names of metrics put `/` behind what belongs together, as MLflow's charts group by it: `comprehensiveness` is the mean
to compare runs by, `rank/...` and `interval-low/...` stand beside it, `seed/...` has one step per seed, `curve/...` one
step per point of an erasure curve (per cent of the tokens), `cost/...` and `model/...` say what they say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from faithboard.records import Explanation
from faithboard.report import markdown
from faithboard.stats import Cost, Standing, Table
from faithboard.tracking.runs import Point, Run, metric_name, model_points, note, origin_tags, settings_of, values_of

if TYPE_CHECKING:
    import pandas as pd


def method_run(
    table: Table,
    name: str,
    standings: Sequence[Standing],
    cost: Cost,
    sources: Sequence[Explanation],
    page: str,
    values: pd.DataFrame,
) -> Run:
    """The run of one method: its standings and cost in `table`, its explanations (`sources`) in the order of seeds."""
    without_result = all(standing.value is None for standing in standings)
    points = [*_results(standings), *_cost(cost), *model_points(table)]
    return Run(
        name=name,
        identity=f"{table.key}/{standings[0].method}",
        status="FAILED" if without_result else "FINISHED",
        params=settings_of(table) | _params(standings[0], sources),
        points=tuple(point for point in points if math.isfinite(point.value)),
        tags=origin_tags(table, sources) | _tags(table, standings, sources),
        rows=[one.to_json() for one in (*standings, cost, *sources)],
        page=page,
        values=values_of(sources, values),
    )


def _params(first: Standing, sources: Sequence[Explanation]) -> dict[str, str]:
    return {
        "method": first.method,
        "kind": first.method_kind,
        "signed": str(first.signed).lower(),
        "examples": str(max(explanation.examples for explanation in sources)),
        "draws": str(max(explanation.draws for explanation in sources)),
    }


def _results(standings: Iterable[Standing]) -> Iterable[Point]:
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


def _cost(cost: Cost) -> Iterable[Point]:
    found = {
        "forward-steps": cost.forward_steps,
        "backward-steps": cost.backward_steps,
        "examples-per-second": cost.examples_per_second,
        "tokens-per-second": cost.tokens_per_second,
        "spread": cost.spread,
        "peak-memory-mb": cost.peak_memory_mb,
        "batch-size": cost.batch_size,
        "joules-per-example": cost.joules_per_example,
    }
    return (Point(f"cost/{name}", float(value)) for name, value in found.items() if value is not None)


def _tags(table: Table, standings: Sequence[Standing], sources: Sequence[Explanation]) -> dict[str, str]:
    tags = {
        "mlflow.note.content": note(table, _summary(standings)),
        "faithboard.status": standings[0].status,
        "faithboard.method_sha256": ", ".join(dict.fromkeys(e.method_sha256 for e in sources if e.method_sha256)),
        "faithboard.not_ranked": "; ".join(dict.fromkeys(one.reason for one in standings if one.reason)),
    }
    return {name: value for name, value in tags.items() if value}


def _summary(standings: Sequence[Standing]) -> str:
    """Value and rank per metric, as a Markdown table."""
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
