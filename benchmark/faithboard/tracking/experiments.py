"""What MLflow is to show: one experiment per suite version and task, with one flat run per model and method. Pure.

The probes of a model are a run beside those of its methods.

MLflow opens a table without any metric in it. Each experiment therefore brings a saved view, `VIEW`: the columns that
methods are compared by, best rank first. `link` leads to it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faithboard.records import Explanation, ModelRecord
from faithboard.report import layout, render
from faithboard.stats import Board, Table
from faithboard.tracking.methods import method_run
from faithboard.tracking.probes import NAME as PROBES
from faithboard.tracking.probes import probe_run
from faithboard.tracking.runs import Run, metric_name

if TYPE_CHECKING:
    import pandas as pd

VIEW = "leaderboard"
"""Name of the saved view, part of its address."""
VIEW_TAG = f"mlflow.sharedViewState.{VIEW}"

_NOTE = (
    "One run per model and method. No prefix: the mean to compare by. `rank/`: 1 is best. `seed/`: a step per seed. "
    "`curve/`: a step per % of tokens removed."
)


@dataclass(frozen=True)
class Experiment:
    """All runs of one task in one version of a suite."""

    name: str
    tags: dict[str, str]
    runs: tuple[Run, ...]
    """Worst first: MLflow lists the latest run at the top."""


def experiments_of(
    board: Board, models: Iterable[ModelRecord], explanations: Iterable[Explanation], values: pd.DataFrame
) -> list[Experiment]:
    """The experiments of a board; `models`, `explanations` and `values` are what it was ranked from."""
    tables_at = {_place(table): table for table in board.tables}
    table_of = {
        model.key: table.key
        for model in models
        if (table := tables_at.get(_place(model))) is not None and model.seed in table.seeds
    }
    sources: dict[tuple[str, str], list[Explanation]] = defaultdict(list)
    for explanation in sorted(explanations, key=lambda explanation: explanation.seed):
        if explanation.model_key in table_of:
            sources[table_of[explanation.model_key], explanation.method].append(explanation)
    pages = render(board)

    def runs(table: Table, suffix: str, page: str) -> Iterator[Run]:
        if probed := sources[table.key, ""]:
            found = [one for one in board.probes if one.table == table.key]
            yield probe_run(table, f"{PROBES}{suffix}", found, probed, page, values)
        costs = {cost.method: cost for cost in board.costs if cost.table == table.key}
        for method in reversed(layout.methods(board, table)):
            standings = [one for one in board.standings if (one.table, one.method) == (table.key, method)]
            own = sources[table.key, method]
            yield method_run(table, f"{method}{suffix}", standings, costs[method], own, page, values)

    experiments = []
    for task in sorted({table.task for table in board.tables}):
        tables = [table for table in board.tables if table.task == task]
        page = pages.get(f"{task}.md", pages["README.md"])
        made = [run for table in tables for run in runs(table, _suffix(table, tables), page)]
        name = f"{tables[0].suite} v{tables[0].suite_version} / {task}"
        experiments.append(Experiment(name, _tags(board, tables), tuple(made)))
    return experiments


def link(experiment_id: str, port: int) -> str:
    """Address of an experiment's saved view in the UI that `ui` starts."""
    query = f"workflowType=machine_learning&viewStateShareKey={VIEW}"
    return f"http://127.0.0.1:{port}/#/experiments/{experiment_id}/runs?{query}"


def _place(one: ModelRecord | Table) -> tuple[str, int, str, str, str]:
    return one.task, one.task_version, one.fingerprint, one.model, one.training


def _suffix(table: Table, tables: Sequence[Table]) -> str:
    """What tells the runs of a table from those of others of the task; names are cut in MLflow, so nothing else."""
    told_by = [
        own
        for own, all_of_them in (
            (table.model, {other.model for other in tables}),
            (table.training, {other.training for other in tables}),
            (f"v{table.task_version}", {other.task_version for other in tables}),
            (table.fingerprint[:8], {other.fingerprint for other in tables}),
        )
        if len(all_of_them) > 1
    ]
    return "".join(f" | {own}" for own in told_by)


def _tags(board: Board, tables: Sequence[Table]) -> dict[str, str]:
    return {
        "mlflow.note.content": _NOTE,
        "mlflow.experimentKind": "custom_model_development",
        VIEW_TAG: json.dumps(_view(board, tables), sort_keys=True),
    }


def _view(board: Board, tables: Sequence[Table]) -> dict[str, Any]:
    """The state of MLflow's table of runs, in the form its "share view" writes it."""
    grids = [
        grid for table in tables for grid in (layout.faithfulness(board, table), layout.plausibility(board, table))
    ]
    metrics = [metric_name(metric) for metric in dict.fromkeys(metric for grid in grids for metric in grid.metrics)]
    names = [name for metric in metrics for name in (metric, f"rank/{metric}")]
    names += ["cost/forward-steps", "cost/backward-steps", "cost/examples-per-second"]
    return {
        "searchFilter": "",
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "modelVersionFilter": "All Runs",
        "datasetsFilter": [],
        "orderByKey": f"metrics.`rank/{metrics[0]}`" if metrics else "attributes.start_time",
        "orderByAsc": bool(metrics),
        "selectedColumns": [f"metrics.`{name}`" for name in names],
    }
