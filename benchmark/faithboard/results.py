"""The results of one suite as they are stored, and the board they make."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from faithboard.errors import SuiteError, near
from faithboard.membership import SuiteMembers
from faithboard.records import Explanation, ModelRecord, Throughput
from faithboard.stats import rank
from faithboard.stats.checks import check_models
from faithboard.stats.magnitudes import ReadScores
from faithboard.store import Store

if TYPE_CHECKING:
    from faithboard.stats.board import Board


@dataclass(frozen=True)
class Results:
    """Everything stored of one suite."""

    suite: str
    version: int
    seeds: tuple[int, ...]
    """The suite's own, whether or not each has a model yet."""
    models: tuple[ModelRecord, ...]
    explanations: tuple[Explanation, ...]
    values: pd.DataFrame
    """Long: explain_key, metric, example, value (mean over draws, NaN where undefined), points."""
    predictions: pd.DataFrame
    """Long: model_key, example, right, right_query_only; every test example of every model."""
    throughput: tuple[Throughput, ...]
    scores: ReadScores | None = None
    """Reads the scores of an explanation, by its key; None for results without."""


def suites_in(store: Store) -> list[str]:
    """Names such as `quick-v1` of the suites that have results in a store."""
    return [f"{one.name}-v{one.version}" for one in store.suites()]


def named_members(store: Store, suite: str) -> SuiteMembers:
    """What the results of `suite` are made of: `quick-v1`, or `quick` for its newest version. Raises SuiteError."""
    named = [one for one in store.suites() if suite in (one.name, f"{one.name}-v{one.version}")]
    members = max(named, key=lambda one: one.version, default=None)
    if members is None:
        hint = near(suite, suites_in(store)) if suites_in(store) else "`faithboard run` makes some"
        raise SuiteError(f"{store.root} holds no results of suite {suite!r}; {hint}")
    return members


def results_of(store: Store, suite: str) -> Results:
    """The results of `suite`: `quick-v1`, or `quick` for its newest version. Raises SuiteError for none."""
    members = named_members(store, suite)
    models = [record for record in store.models() if record.key in members.models]
    known = {model.key for model in models}
    explanations = [
        _asked(record, members.metrics)
        for record in store.explanations()
        if record.key in members.explanations and record.model_key in known
    ]
    return gathered(store, members.name, members.version, members.seeds, models, explanations)


def gathered(
    store: Store,
    suite: str,
    version: int,
    seeds: Sequence[int],
    models: Sequence[ModelRecord],
    explanations: Sequence[Explanation],
) -> Results:
    """The records of a store, with their values and predictions."""
    return Results(
        suite=suite,
        version=version,
        seeds=tuple(seeds),
        models=tuple(models),
        explanations=tuple(explanations),
        values=_long({one.key: store.values(one.key) for one in explanations}, "explain_key"),
        predictions=_long({one.key: store.predictions(one.key) for one in models}, "model_key"),
        throughput=tuple(store.throughput()),
        scores=store.scores,
    )


def board_of(results: Results) -> Board:
    """Tables, standings and comparisons, ranked by paired tests (definitions, section 6)."""
    board = rank(
        results.suite,
        results.version,
        results.seeds,
        results.models,
        results.explanations,
        results.values,
        results.throughput,
        results.scores,
    )
    return replace(board, checks=check_models(results.models, results.predictions))


def _asked(record: Explanation, metrics: Collection[str]) -> Explanation:
    """The explanation with the rows that the suite asks for: another suite may have scored it in more metrics."""
    return replace(record, rows=[row for row in record.rows if row.metric in metrics])


def _long(tables: Mapping[str, pd.DataFrame], column: str) -> pd.DataFrame:
    """The tables below each other, with their keys as a column; an empty one of the same columns for none."""
    filled = [table.assign(**{column: key}) for key, table in tables.items() if len(table)]
    if filled:
        return pd.concat(filled, ignore_index=True)
    return pd.DataFrame({name: [] for name in ("metric", "example", "value", "points", column)})
