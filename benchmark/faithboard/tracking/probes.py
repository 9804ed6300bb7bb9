"""One run per trained model for what was asked of the model itself. Pure.

`tau-attention-loo` is the mean over examples; `interval-low/...`, `sd/...`, `significant/...` and their like stand
beside it; `class/...` has one step per predicted class.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from faithboard.records import Explanation
from faithboard.stats import ProbeSummary, Table
from faithboard.tracking.runs import Point, Run, metric_name, model_points, note, origin_tags, settings_of, values_of

if TYPE_CHECKING:
    import pandas as pd

NAME = "probes"
_NOTE = "What was asked of the model itself, without a method. `class/`: a step per predicted class."


def probe_run(
    table: Table,
    name: str,
    found: Sequence[ProbeSummary],
    sources: Sequence[Explanation],
    page: str,
    values: pd.DataFrame,
) -> Run:
    """The run of a table's probes: what was found, and the records it comes from in the order of seeds."""
    outcomes = [(e.status, e.reason) for e in sources] + [(row.status, row.reason) for e in sources for row in e.rows]
    failed = [outcome for outcome in outcomes if outcome[0] != "ok"]
    tags = {"mlflow.note.content": note(table, _NOTE), "faithboard.status": failed[0][0] if failed else "ok"}
    if failed:
        tags["faithboard.reason"] = "; ".join(dict.fromkeys(reason for _, reason in failed))
    examples = max(source.examples for source in sources)
    return Run(
        name=name,
        identity=f"{table.key}/",  # a method has a name
        status="FINISHED" if found else "FAILED",
        params=settings_of(table) | {"method": NAME, "kind": "probe", "examples": str(examples)},
        points=(*_points(found), *model_points(table)),
        tags=origin_tags(table, sources) | tags,
        rows=[one.to_json() for one in (*found, *sources)],
        page=page,
        values=values_of(sources, values),
    )


def _points(found: Iterable[ProbeSummary]) -> Iterable[Point]:
    for one in found:
        name = metric_name(one.probe)
        if one.predicted is not None:
            yield Point(f"class/{name}", one.value, one.predicted)
            continue
        alone = {
            name: one.value,
            f"interval-low/{name}": one.low,
            f"interval-high/{name}": one.high,
            f"sd/{name}": one.example_spread,
            f"sd-over-seeds/{name}": one.seed_spread,
            f"significant/{name}": one.significant_share,
            f"not-testable/{name}": one.untestable_share,
            f"undefined/{name}": one.undefined_share,
        }
        yield from (Point(metric, value) for metric, value in alone.items() if value is not None)
