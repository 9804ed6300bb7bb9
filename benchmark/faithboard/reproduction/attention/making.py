"""From the results of a suite to the lines of a reproduction. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from faithboard.published import adversarial, datasets, performance, tau
from faithboard.report.layout import reservations
from faithboard.reproduction.attention.claims import evidence_lines
from faithboard.reproduction.attention.comparing import SUBSTITUTES, published_task
from faithboard.reproduction.attention.correlations import length_lines, tau_lines
from faithboard.reproduction.attention.datasets import dataset_lines
from faithboard.reproduction.attention.lines import ModelLine, Reproduction
from faithboard.reproduction.attention.measured import Measured
from faithboard.reproduction.attention.outputs import divergence_lines, permutation_lines
from faithboard.reproduction.lines import SuiteLine
from faithboard.reproduction.stored import failures
from faithboard.stats import resampling
from faithboard.stats.tables import table_of

if TYPE_CHECKING:
    from faithboard.results import Results
    from faithboard.suites import Suite


def reproduction_of(
    results: Results, measured: Sequence[Measured], labels: Mapping[str, Sequence[str]], suite: Suite, made_of: str
) -> Reproduction:
    """Every line but those of examples and figures. `labels`: task -> names of its classes, for every task."""
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
                notes=list(failures(results)),
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
    said = [reservations(table)] if reservations(table) else []
    if one.task in SUBSTITUTES:
        said.append(f"a substitute for {SUBSTITUTES[one.task].upper()}, with whose numbers it is compared")
    theirs = published_task(one.task)
    return ModelLine(
        task=one.task,
        published_task=theirs if theirs in datasets() else "",
        model=one.model,
        seeds=list(one.seeds),
        gate_passed=table.gate_passed,
        reason=table.reason,
        vectors=table.vectors,
        training_rows=int(table.data.get("splits", {}).get("train", {}).get("used", 0)),
        reservations="; ".join(said),
        examples=len(one.examples),
        measure=measure,
        performance=[resampling.rounded(value) for value in table.performance.get(measure, [])],
        published_performance=performance().get((theirs, one.model, measure)),
    )
