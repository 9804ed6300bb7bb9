"""From records and values per example to tables, standings and comparisons (definitions, section 6). Pure.

A table is one trained model: task x architecture x training, in every seed of the suite. What keeps a row of it from
being ranked is written in the row; it is shown all the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from faithboard.errors import SuiteError
from faithboard.records import Explanation, ModelRecord, Row, Throughput
from faithboard.stats import resampling
from faithboard.stats.agreed import MethodAgreement, MetricAgreement
from faithboard.stats.agreement import Ranking, method_agreements, metric_agreements
from faithboard.stats.aligned import Aligned, align
from faithboard.stats.board import Board, Comparison, Cost, ProbeSummary, Standing, Table
from faithboard.stats.comparisons import beats, compare
from faithboard.stats.costs import cost_of, timing_of
from faithboard.stats.entries import Entry
from faithboard.stats.magnitudes import ReadScores
from faithboard.stats.probed import summed_up
from faithboard.stats.sanity import CONTROL, sanity_checks
from faithboard.stats.tables import table_of
from faithboard.stats.versions import shown

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy import ndarray


def rank(
    suite: str,
    version: int,
    seeds: Sequence[int],
    models: Iterable[ModelRecord],
    explanations: Iterable[Explanation],
    values: pd.DataFrame,
    throughput: Iterable[Throughput] = (),
    scores: ReadScores | None = None,
) -> Board:
    """All tables of one suite.

    `values` is long: explain_key, metric, example, value (mean over draws, NaN where undefined; no line for an example
    that is excluded). `seeds` are the suite's own: one without a model keeps a table out of the ranking, and models of
    other seeds take no part. The order of records and lines changes nothing. With `scores`, which may read them one
    explanation at a time, methods are also compared with each other and held to the sanity checks.

    Raises SuiteError when an explanation belongs to no model, when two records claim one place in a table, and when no
    model has one of the seeds.
    """
    models, seeds = list(models), sorted(seeds)
    of_model = _by_model(models, explanations)
    speeds: dict[str, list[Throughput]] = defaultdict(list)
    for record in throughput:
        speeds[record.explain_key].append(record)
    by_example = {
        (str(key), str(metric)): lines.set_index("example")["value"]
        for (key, metric), lines in values.groupby(["explain_key", "metric"])
    }

    tables: list[Table] = []
    standings: list[Standing] = []
    comparisons: list[Comparison] = []
    probes: list[ProbeSummary] = []
    costs: list[Cost] = []
    methods_agree: list[MethodAgreement] = []
    metrics_agree: list[MetricAgreement] = []
    placed: list[tuple[Table, list[Entry]]] = []
    for members in _groups(f"{suite} v{version}", seeds, models):
        own = [explanation for model in members for explanation in of_model.get(model.key, ())]
        table = table_of(suite, version, seeds, members, own)
        entries = _entries(table, members, own, speeds)
        methods = [entry for entry in entries if entry.method]
        table = replace(table, timing=timing_of(methods, table.device))
        tables.append(table)
        placed.append((table, methods))
        costs += [cost_of(table, entry) for entry in methods]
        rankings, paired = [], []
        for info in _metrics(methods):
            ranked, pairs, ranking = _rank_metric(table, info, methods, by_example)
            standings += ranked
            paired += pairs
            rankings.append(ranking)
        comparisons += paired
        metrics_agree += metric_agreements(table, rankings, paired)
        if scores is not None and table.training != CONTROL:
            methods_agree += method_agreements(table, methods, scores)
        probes += [found for entry in entries if not entry.method for found in summed_up(table, entry, by_example)]
    return Board(
        tables,
        standings,
        comparisons,
        probes,
        costs,
        sanity=sanity_checks(placed, by_example, scores) if scores is not None else [],
        method_agreement=methods_agree,
        metric_agreement=metrics_agree,
    )


def _by_model(models: Sequence[ModelRecord], explanations: Iterable[Explanation]) -> Mapping[str, list[Explanation]]:
    """Key of the model -> its explanations."""
    found: dict[str, list[Explanation]] = defaultdict(list)
    for explanation in explanations:
        found[explanation.model_key].append(explanation)
    if lost := sorted(set(found) - {model.key for model in models}):
        raise SuiteError(
            f"explanations of models without a record: {', '.join(lost)}; `faithboard run` trains them again"
        )
    return found


def _groups(suite: str, seeds: Sequence[int], models: Sequence[ModelRecord]) -> list[list[ModelRecord]]:
    """The models of each table, in the order of seeds."""
    found: dict[tuple[str, int, str, str, str], list[ModelRecord]] = defaultdict(list)
    for model in sorted(models, key=lambda model: model.seed):
        if model.seed in seeds:
            found[model.task, model.task_version, model.fingerprint, model.model, model.training].append(model)
    if models and not found:
        wanted = ", ".join(map(str, seeds))
        raise SuiteError(f"{suite} has no model of its seeds {wanted}; `faithboard run` trains them")
    return [found[identity] for identity in sorted(found)]


def _entries(
    table: Table, members: Sequence[ModelRecord], own: Iterable[Explanation], speeds: Mapping[str, list[Throughput]]
) -> list[Entry]:
    """One per method, in the order of names; the probes are the one without a name."""
    weights = {model.seed: model.weights_sha256 for model in members}
    by_method: dict[str, dict[int, Explanation]] = defaultdict(dict)
    for explanation in own:
        if explanation.seed in by_method[explanation.method]:
            raise SuiteError(
                f"two explanations by {explanation.method!r} in {table.key}, seed {explanation.seed}: keep one "
                "of them: `faithboard run` keeps the newest"
            )
        by_method[explanation.method][explanation.seed] = explanation
    return [
        Entry(method, by_seed, weights, [record for e in by_seed.values() for record in speeds.get(e.key, ())])
        for method, by_seed in sorted(by_method.items())
    ]


def _metrics(entries: Sequence[Entry]) -> list[Row]:
    """The row that stands for each metric, in the order of names. Sanity checks are passed or not, never ranked."""
    by_name: dict[str, list[Row]] = defaultdict(list)
    for entry in entries:
        for explanation in entry.by_seed.values():
            for row in explanation.rows:
                if row.kind != "sanity":
                    by_name[row.metric].append(row)
    return [shown(by_name[name]) for name in sorted(by_name)]


def _rank_metric(
    table: Table, info: Row, entries: Sequence[Entry], by_example: Mapping[tuple[str, str], pd.Series[float]]
) -> tuple[list[Standing], list[Comparison], Ranking]:
    entries = [entry for entry in entries if entry.makes_sense(info.metric)]
    aligned = align(table, info, entries, by_example)
    means = resampling.mean_defined(aligned.values, 2)
    median = info.statistic == "median"
    resampled = (resampling.bootstrap_medians if median else resampling.bootstrap_means)(means)
    standings = [
        _standing(table, info, entry, aligned, at, means[:, at], resampled[:, at]) for at, entry in enumerate(entries)
    ]
    ranked = [at for at, standing in enumerate(standings) if not standing.reason]
    own = [at for at in ranked if entries[at].first.kind != "reference"]
    columns = [entries[at].method for at in own]
    ranking = Ranking(info, pd.DataFrame(means[:, own], index=list(aligned.examples), columns=columns))
    if info.better == "neither" or median:
        return standings, [], ranking
    methods = [entries[at].method for at in ranked]
    pairs = compare(table, info.metric, info.better, methods, aligned.values[:, ranked], resampled[:, ranked])
    for at, best, worst in zip(ranked, *resampling.ranks(beats(pairs, methods)), strict=True):
        standings[at] = replace(standings[at], rank=int(best), rank_high=int(worst), ranked=len(ranked))
    return standings, pairs, ranking


def _standing(
    table: Table,
    info: Row,
    entry: Entry,
    aligned: Aligned,
    at: int,
    means: Float[ndarray, "example"],
    resampled: Float[ndarray, "resample"],
) -> Standing:
    rows = list(entry.current(info).values())
    of_seed = resampling.mean_defined(aligned.values[:, at], 0)
    status, _ = entry.failure(info.metric)
    low, high = resampling.interval(resampled)
    middle = _median if info.statistic == "median" else resampling.mean_defined
    expected = [row.expectation for row in rows if row.expectation is not None]
    return Standing(
        table=table.key,
        suite=table.suite,
        suite_version=table.suite_version,
        task=table.task,
        model=table.model,
        training=table.training,
        method=entry.method,
        method_kind=entry.first.kind,
        signed=entry.first.signed,
        metric=info.metric,
        metric_version=info.metric_version,
        metric_kind=info.kind,
        better=info.better,
        status=status,
        reason=aligned.reasons[at] or table.reason or _unverified(table, info),
        value=resampling.rounded_or_none(middle(means, 0)),
        low=resampling.rounded_or_none(low),
        high=resampling.rounded_or_none(high),
        seed_means={
            str(seed): resampling.rounded(mean)
            for seed, mean in zip(table.seeds, of_seed, strict=True)
            if np.isfinite(mean)
        },
        seed_spread=resampling.rounded(np.nanstd(of_seed, ddof=1)) if np.isfinite(of_seed).sum() > 1 else None,
        n=int(np.isfinite(means).sum()),
        excluded=aligned.excluded,
        truncated=max(explanation.truncated for explanation in entry.by_seed.values()),
        undefined_share=resampling.rounded(aligned.undefined[at]),
        expectation=resampling.rounded_or_none(float(np.mean(expected)) if expected else None),
        points=list(info.points),
        curve=_over_seeds([row.curve for row in rows]),
        curve_low=_over_seeds([row.curve_low for row in rows]),
        curve_high=_over_seeds([row.curve_high for row in rows]),
        counts=dict(rows[0].counts) if rows else {},
        statistic=info.statistic,
    )


def _median(values: Float[ndarray, "example"], axis: int) -> Float[ndarray, ""]:
    defined = values[np.isfinite(values)]
    return np.median(defined, axis=axis) if len(defined) else np.asarray(np.nan)


def _over_seeds(curves: Sequence[Sequence[float]]) -> list[float]:
    """Mean of each point over the seeds that have a curve."""
    known = [curve for curve in curves if curve]
    return [resampling.rounded(value) for value in np.mean(known, axis=0)] if known else []


def _unverified(table: Table, info: Row) -> str:
    if info.kind == "rationale" and table.known_truth and not table.has_known_truth:
        return "the model is not verified to use the planted tokens"
    return ""
