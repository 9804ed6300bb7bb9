"""From the results of a suite to the lines of a reproduction. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from faithboard.config import LAST
from faithboard.deviations import deviations
from faithboard.probes.topk import list_length
from faithboard.published import adversarial, datasets, performance, tau
from faithboard.report.layout import reservations
from faithboard.reproduction.attention.claims import evidence_lines
from faithboard.reproduction.attention.comparing import SUBSTITUTES, published_task
from faithboard.reproduction.attention.correlations import length_lines, tau_lines
from faithboard.reproduction.attention.datasets import dataset_lines
from faithboard.reproduction.attention.lines import ModelLine, Reproduction
from faithboard.reproduction.attention.measured import LENGTH, Measured
from faithboard.reproduction.attention.outputs import divergence_lines, permutation_lines
from faithboard.reproduction.lines import SuiteLine
from faithboard.reproduction.stored import failures
from faithboard.stats import resampling
from faithboard.stats.tables import table_of

if TYPE_CHECKING:
    from faithboard.records import ModelRecord
    from faithboard.results import Results
    from faithboard.stats.board import Table
    from faithboard.suites import Suite


def reproduction_of(
    results: Results,
    measured: Sequence[Measured],
    labels: Mapping[str, Sequence[str]],
    suite: Suite,
    made_of: str,
    left_out: Sequence[str] = (),
) -> Reproduction:
    """Every line but those of examples and figures. `labels`: task -> names of its classes, for every task; `left_out`:
    what is stored and takes no part, as sentences."""
    models = [_model(one, results) for one in measured]
    passing = {(line.task, line.model) for line in models if not line.reason}
    usable = [one for one in measured if (one.task, one.model) in passing]
    divergences = divergence_lines(measured, labels, adversarial())
    return Reproduction(
        suite=[
            SuiteLine(
                name=results.suite,
                version=results.version,
                seeds=list(results.seeds),
                description=suite.description,
                notes=[*failures(results), *left_out],
                made_of=made_of,
            )
        ],
        models=models,
        datasets=dataset_lines(measured, labels, datasets()),
        taus=tau_lines(measured, labels, tau()),
        lengths=length_lines(usable),
        permutations=permutation_lines(measured, labels),
        divergences=divergences,
        evidence=evidence_lines(usable, labels, divergences),
    )


def _model(one: Measured, results: Results) -> ModelLine:
    table = table_of(results.suite, results.version, results.seeds, one.records, ())
    measure = table.performance_measure
    theirs = published_task(one.task)
    length = float(np.nanmean(one.mean(LENGTH)))
    splits = table.data.get("splits", {})
    return ModelLine(
        task=one.task,
        published_task=theirs if theirs in datasets() else "",
        model=one.model,
        seeds=list(one.seeds),
        gate_passed=table.gate_passed,
        reason=table.reason,
        vectors=table.vectors,
        training_rows=int(splits.get("train", {}).get("used", 0)),
        reservations="; ".join(_reservations(one, table)),
        examples=len(one.examples),
        measure=measure,
        performance=[resampling.rounded(value) for value in table.performance.get(measure, [])],
        published_performance=performance().get((theirs, one.model, measure)),
        test=splits.get("test", {}).get("used"),
        length=resampling.rounded(length),
        k=list_length(length),
    )


def _reservations(one: Measured, table: Table) -> Iterator[str]:
    if said := reservations(table):
        yield said
    if one.task in SUBSTITUTES:
        yield f"a substitute for {SUBSTITUTES[one.task].upper()}, with whose numbers it is compared"
    if said := deviations(table.config, table.model, table.training, table.task):
        yield said
    last = [record.seed for record in one.records if _best_at_the_limit(record)]
    if last:
        of = "" if len(last) == len(one.records) else f" (seed {', '.join(map(str, last))})"
        yield f"the last epoch was the best{of}"


def _best_at_the_limit(record: ModelRecord) -> bool:
    """Whether the dev split picked the last of all epochs that were to be run: more might have been better."""
    epochs = record.config.get("epochs")
    return record.config.get("select") != LAST and len(record.history) == epochs == record.provenance.get("best_epoch")
