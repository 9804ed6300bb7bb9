"""From records and values per example to tables, standings and comparisons (definitions, section 6). Pure.

A table is one trained model: task x architecture x training, in every seed of the suite.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pandas as pd

from faithboard.records import Explanation, ModelRecord, Throughput
from faithboard.stats import grouping
from faithboard.stats.agreed import MethodAgreement, MetricAgreement
from faithboard.stats.agreement import method_agreements, metric_agreements
from faithboard.stats.board import Board, Comparison, Cost, ProbeSummary, Standing, Table
from faithboard.stats.costs import cost_of, timing_of
from faithboard.stats.entries import Entry
from faithboard.stats.magnitudes import ReadScores
from faithboard.stats.probed import summed_up
from faithboard.stats.ranked import rank_metric
from faithboard.stats.sanity import CONTROL, sanity_checks
from faithboard.stats.tables import table_of


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
    of_model = grouping.by_model(models, explanations)
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
    for members in grouping.groups(f"{suite} v{version}", seeds, models):
        own = [explanation for model in members for explanation in of_model.get(model.key, ())]
        table = table_of(suite, version, seeds, members, own)
        entries = grouping.entries(table, members, own, speeds)
        methods = [entry for entry in entries if entry.method]
        table = replace(table, timing=timing_of(methods, table.device))
        tables.append(table)
        placed.append((table, methods))
        costs += [cost_of(table, entry) for entry in methods]
        rankings, paired = [], []
        for info in grouping.metrics(methods):
            ranked, pairs, ranking = rank_metric(table, info, methods, by_example)
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
