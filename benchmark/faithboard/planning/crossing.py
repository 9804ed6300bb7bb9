"""Tasks x models x trainings x seeds, and what is asked of each: the whole plan of a suite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from faithboard.errors import SuiteError
from faithboard.metric import AmountMetric, ErasureMetric, Metric, Probe, RationaleMetric, RunsMethods
from faithboard.plan import Plan, Prepared
from faithboard.planning.explanations import Questions
from faithboard.planning.models import Models
from faithboard.resolve import Resolved
from faithboard.suites import Suite

if TYPE_CHECKING:
    from faithboard.data import TaskData
    from faithboard.store import Index


def make_plan(
    suite: Suite,
    prepared: Sequence[Prepared],
    methods: Sequence[Resolved],
    metrics: Sequence[Resolved],
    trainings: Sequence[Resolved],
    asked: Sequence[Resolved],
    index: Index,
    vectors: Mapping[str, str],
    machine: Mapping[str, Any],
    *,
    submitted: Mapping[str, Resolved] | None = None,
    retry_failed: bool = False,
    over_budget: bool = False,
) -> Plan:
    """Cross everything. `trainings` are the suite's, `asked` those that methods ask for; `vectors` maps a source of
    embeddings to the identity of its content; `machine` is the provenance that a speed record needs; `submitted` are
    the models of the suite that a person brings, by reference.

    Raises SuiteError for a model or training that makes no sense on a task, before anything is trained.
    """
    inapplicable: list[str] = []
    unasked = [metric.name for metric in metrics if not isinstance(metric.value, Probe)]
    if not suite.methods and unasked:
        raise SuiteError(f"{suite.title} has no methods, and {', '.join(unasked)} can only score one; give --methods")
    jobs = []
    own = frozenset(training.name for training in trainings)
    for one in prepared:
        usable = _applicable(one.data, [metric.value for metric in metrics], inapplicable)
        every = {each.name: each for each in [*trainings, *asked]}
        models = Models(suite, one, every, index, vectors, retry_failed, submitted or {})
        for name in suite.models_for(one.reference, one.task.name):
            for training in models.trainings_of(name, inapplicable):
                for seed in suite.seeds:
                    job = models.job(name, training, seed)
                    asked_of = usable if job.procedure.scored else []
                    questions = Questions(suite, job, own, index, machine, retry_failed, over_budget)
                    explanations = questions.explanations(methods, questions.possible(asked_of, inapplicable))
                    jobs.append(replace(job, explanations=explanations, wanted=not suite.methods))
    names = [name for metric in metrics for name in metric.value.rows]
    return Plan(suite, tuple(jobs), tuple(names), tuple(inapplicable))


def _applicable(data: TaskData, metrics: Iterable[Metric], inapplicable: list[str]) -> list[Metric]:
    usable: list[Metric] = []
    for metric in metrics:
        if not isinstance(metric, ErasureMetric | AmountMetric | RunsMethods | RationaleMetric | Probe):
            raise SuiteError(f"metric {metric.name} is of a kind this engine cannot run: {type(metric).__name__}")
        if isinstance(metric, RationaleMetric):
            fitting, reason = _marked(data, metric)
            usable += [fitting] if fitting else []
            inapplicable += [reason] if reason else []
        else:
            usable.append(metric)
    return usable


def _marked(data: TaskData, metric: RationaleMetric) -> tuple[RationaleMetric | None, str]:
    """The metric with all it must know of the data, or why the data cannot have it."""
    task = data.task
    if task.rationale is None:
        return None, f"{metric.name} needs marked tokens, and {task.name} has none"
    if task.rationale not in metric.of:
        wanted = " or ".join(sorted(metric.of))
        return None, f"{metric.name} is about {wanted} marks, and those of {task.name} are {task.rationale}"
    if not metric.needs_share:
        return metric, ""
    share = data.counts["dev"].rationale_share
    if share is None:
        return None, f"{metric.name} is as long as the rationales of the dev split, and that of {task.name} has none"
    return metric.at_share(share), ""
