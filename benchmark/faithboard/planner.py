"""Cross a suite: what to train and explain, what is stored, what is refused and why, what it costs. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from faithboard.attribution import Method
from faithboard.config import TrainingConfig, configured
from faithboard.errors import SuiteError, near
from faithboard.keys import examples_key, explain_key, model_key, row_key, submitted_model_key, throughput_key
from faithboard.metric import (
    AmountMetric,
    ErasureMetric,
    Metric,
    Probe,
    RationaleMetric,
    RerunMetric,
    RetrainMetric,
    RunsMethods,
)
from faithboard.models import capabilities, check_combination
from faithboard.plan import Plan, PlannedExplanation, PlannedJob, Prepared, State
from faithboard.resolve import Resolved, asks_for_training
from faithboard.retraining_cost import retraining_steps
from faithboard.submitted import ModelDefinition
from faithboard.suites import Suite
from faithboard.training import BUILTIN, STANDARD, Training, check_training

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
        models = _Models(suite, one, every, index, vectors, retry_failed, submitted or {})
        for name in suite.models_for(one.reference, one.task.name):
            for training in models.trainings_of(name, inapplicable):
                for seed in suite.seeds:
                    job = models.job(name, training, seed)
                    asked_of = usable if job.procedure.scored else []
                    planner = _Planner(suite, job, own, index, machine, retry_failed, over_budget)
                    explanations = planner.explanations(methods, planner.possible(asked_of, inapplicable))
                    jobs.append(replace(job, explanations=explanations, wanted=not suite.methods))
    names = [name for metric in metrics for name in metric.value.rows]
    return Plan(suite, tuple(jobs), tuple(names), tuple(inapplicable))


@dataclass(frozen=True)
class _Models:
    """Plans what is trained on one task."""

    suite: Suite
    prepared: Prepared
    trainings: Mapping[str, Resolved]
    """By name, all that have jobs of their own."""
    index: Index
    vectors: Mapping[str, str]
    retry_failed: bool
    submitted: Mapping[str, Resolved]

    @cached_property
    def training_tokens(self) -> int:
        """Words of the training texts and their queries: counted once, and not at all when nothing is trained."""
        return sum(len(example.tokens) + len(example.query) for example in self.prepared.data.splits["train"])

    def trainings_of(self, name: str, inapplicable: list[str]) -> list[str]:
        """Those that a model is trained by. A person's own brings its training along, which stands as `standard`."""
        if name not in self.submitted:
            return list(self.trainings)
        own = self.submitted[name].name
        others = [training for training in self.trainings if training != STANDARD.name]
        if len(others) == len(self.trainings):
            raise SuiteError(f"the model {own} is trained by its own file, so {', '.join(others)} cannot train it")
        said = [f"{training} does not apply to {own}, which is trained by its own file" for training in others]
        inapplicable += [sentence for sentence in said if sentence not in inapplicable]
        return [STANDARD.name]

    def job(self, name: str, training: str, seed: int) -> PlannedJob:
        """The model `name`, with nothing asked of it yet. Raises SuiteError when it makes no sense."""
        if name in self.submitted:
            return self._submitted(self.submitted[name], seed)
        task, data = self.prepared.task, self.prepared.data
        model, settings = configured(
            name, task.profile, self.suite.settings_for(self.prepared.reference, task.name), training=training
        )
        definition, content = self._definition(training)
        check_combination(model, task)
        check_training(settings, task, definition)
        start = None if settings.init is None else self.job(name, settings.init, seed)
        used = definition.used(settings) | ({} if start is None else {"init": start.key})
        key = model_key(task, data.fingerprint, model, used, seed, self.vectors[model.vectors], content)
        state, reason = self._state(key)
        steps = 2.0 * definition.passes * settings.epochs * self.training_tokens if state == "train" else 0.0
        if start is not None and start.training.procedure not in self.trainings:
            # No job of its own counts what the start costs.
            steps += start.train_steps or 0.0
        return PlannedJob(
            key=key,
            prepared=self.prepared,
            model=model,
            training=settings,
            seed=seed,
            state=state,
            reason=reason,
            train_steps=steps,
            procedure=definition,
            start=start,
        )

    def _submitted(self, one: Resolved, seed: int) -> PlannedJob:
        model: ModelDefinition = one.value
        data = self.prepared.data
        key = submitted_model_key(data.task, data.fingerprint, model.name, one.sha256, seed)
        state, reason = self._state(key)
        return PlannedJob(
            key=key,
            prepared=self.prepared,
            model=model,
            training=TrainingConfig(),
            seed=seed,
            state=state,
            reason=reason,
            train_steps=None if state == "train" and model.trains else 0.0,
            procedure=STANDARD,
            sha256=one.sha256,
        )

    def _state(self, key: str) -> tuple[Literal["train", "stored", "failed"], str]:
        """Whether a model is stored, and why it failed if it did."""
        known = self.index.models.get(key)
        if known is None or (known.status == "failed" and self.retry_failed):
            return "train", ""
        return ("failed", known.reason) if known.status == "failed" else ("stored", "")

    def _definition(self, name: str) -> tuple[Training, str]:
        """A training and, where it is a submission, the hash of its file; the engine's own go with its version."""
        builtin = {training.name: training for training in BUILTIN}
        if name in builtin:
            return builtin[name], ""
        if name not in self.trainings:
            raise SuiteError(f"unknown training {name!r} in init; {near(name, [*builtin, *self.trainings])}")
        return self.trainings[name].value, self.trainings[name].sha256


@dataclass(frozen=True)
class _Planner:
    """Plans what is asked of one model."""

    suite: Suite
    job: PlannedJob
    own: frozenset[str]
    """Names of the suite's trainings."""
    index: Index
    machine: Mapping[str, Any]
    retry_failed: bool
    over_budget: bool

    def explanations(self, methods: Sequence[Resolved], metrics: Sequence[Metric]) -> tuple[PlannedExplanation, ...]:
        probes = [metric for metric in metrics if isinstance(metric, Probe)]
        scored = [metric for metric in metrics if not isinstance(metric, Probe)]
        planned = self._sharing([self.explanation(one, scored) for one in methods if self._explains(one.value)])
        return tuple([*planned, self.probes(probes)] if probes else planned)

    def possible(self, metrics: Sequence[Metric], inapplicable: list[str]) -> list[Metric]:
        """Metrics that the model can have; why it cannot have the others is added to `inapplicable`."""
        usable = []
        for metric in metrics:
            if sentence := self._impossible(metric):
                inapplicable += [sentence] if sentence not in inapplicable else []
            else:
                usable.append(metric)
        return usable

    def _impossible(self, metric: Metric) -> str:
        """Why the model cannot have a metric; empty when it can."""
        name, task = self.job.model.name, self.job.prepared.task.name
        if missing := metric.needed - self._able():
            return f"{metric.name} needs {', '.join(sorted(missing))}, which {name} has not on {task}"
        if isinstance(metric, RetrainMetric) and isinstance(self.job.model, ModelDefinition):
            return f"{metric.name} trains models anew, and {name} is trained by its own file"
        return ""

    def explanation(self, one: Resolved, metrics: Sequence[Metric]) -> PlannedExplanation:
        method: Method = one.value
        key = explain_key(self.job.key, method.name, one.sha256, examples_key(self.job.prepared.examples))
        missing = method.needs - self._able() - {"background"}
        if missing:
            reason = f"needs {', '.join(sorted(missing))}, which {self.job.model.name} has not on this task"
            return PlannedExplanation(key, method, one.sha256, "unsupported", reason)
        forward, backward = self._cost(method)
        state, reason, left = self._stored(key, metrics)
        # The budget is about what is still to be computed: scores that another run has paid for are used.
        if state == "run" and forward is not None and backward is not None and not self.over_budget:
            steps = forward + backward
            if steps > self.suite.budget:
                reason = f"{steps:,.0f} token steps are over the budget of {self.suite.budget:,} (see --over-budget)"
                return PlannedExplanation(key, method, one.sha256, "skipped", reason, (), forward, backward)
        untimed = state != "failed" and throughput_key(key, self.machine) not in self.index.throughput
        again = None if forward is None or backward is None else forward + backward
        left, refused = self._affordable(left, method, again)
        if not left:
            refused = self._unsaid(key, refused)
            state = "stored" if state == "score" and not refused else state
        return PlannedExplanation(
            key=key,
            method=method,
            sha256=one.sha256,
            state=state,
            reason=reason,
            metrics=left,
            refused=refused,
            forward=forward,
            backward=backward,
            scoring=self._scoring(left, method, again),
            untimed=untimed,
        )

    def _affordable(
        self, metrics: tuple[Metric, ...], method: Method, again: float | None
    ) -> tuple[tuple[Metric, ...], tuple[tuple[Metric, str], ...]]:
        """Metrics within the budget, and those that run the method too often or train too much; `again` is one
        explanation."""
        refused = []
        for metric in () if self.over_budget else metrics:
            steps, cost = 0.0, ""
            if isinstance(metric, RerunMetric) and again is not None:
                steps, cost = metric.repeats * again, f"{metric.repeats} runs of {again:,.0f} token steps"
            elif isinstance(metric, RetrainMetric):
                steps = retraining_steps(metric, self.job, method)
                cost = f"{len(metric.shares)} trainings and their explanations, {steps:,.0f} token steps,"
            if steps > self.suite.budget:
                refused.append((metric, f"{cost} are over the budget of {self.suite.budget:,} (see --over-budget)"))
        without = {metric.name for metric, _ in refused}
        return tuple(metric for metric in metrics if metric.name not in without), tuple(refused)

    def _unsaid(self, key: str, refused: tuple[tuple[Metric, str], ...]) -> tuple[tuple[Metric, str], ...]:
        """Refusals that are not stored with their reason."""
        known = self.index.explanations.get(key)
        stored = {(row.key, row.reason) for row in known.rows if row.status == "skipped"} if known else set()
        return tuple((metric, reason) for metric, reason in refused if (row_key(key, metric), reason) not in stored)

    def _sharing(self, planned: list[PlannedExplanation]) -> list[PlannedExplanation]:
        """What is spent once for all methods stands with the first of them that lacks the metric."""
        seen: set[str] = set()
        found = []
        for one in planned:
            new = [metric for metric in one.metrics if metric.name not in seen]
            seen |= {metric.name for metric in new}
            steps = math.fsum(m.shared_steps(length) for m in new for length in self.job.prepared.lengths)
            found.append(replace(one, scoring=one.scoring + steps))
        return found

    def probes(self, metrics: Sequence[Probe]) -> PlannedExplanation:
        key = explain_key(self.job.key, "", "", examples_key(self.job.prepared.examples))
        able = [metric for metric in metrics if metric.needs <= self._able()]
        if not able:
            needs = sorted(set().union(*(metric.needs for metric in metrics)))
            return PlannedExplanation(key, None, "", "unsupported", f"probes need {', '.join(needs)}")
        state, reason, left = self._stored(key, able)
        # Probes have no scores of their own to keep: what is missing is scored.
        state = "score" if state == "run" else state
        if any(metric.steps is None for metric in able):
            return PlannedExplanation(key, None, "", state, reason, left, None, None)
        each = [metric.steps(length) for metric in able if metric.steps for length in self.job.prepared.lengths]
        forward, backward = (math.fsum(steps) for steps in zip(*each, strict=True))
        return PlannedExplanation(key, None, "", state, reason, left, forward, backward)

    def _able(self) -> frozenset[str]:
        model, task = self.job.model, self.job.prepared.task
        return model.able(len(task.labels)) if isinstance(model, ModelDefinition) else capabilities(model, task)

    def _stored(self, key: str, metrics: Sequence[Metric]) -> tuple[State, str, tuple[Metric, ...]]:
        known, model = self.index.explanations.get(key), self.index.models.get(self.job.key)
        if known is None or known.status in ("skipped", "unsupported"):
            return "run", "", tuple(metrics)
        if known.status == "failed":
            if self.retry_failed:
                return "run", "", tuple(metrics)
            return "failed", f"{known.reason} (--retry-failed runs it again)", ()
        if model is not None and model.status == "ok" and model.weights_sha256 != known.weights_sha256:
            # Its model was damaged and trained again to other weights: the scores are of a model that is gone.
            return "run", "", tuple(metrics)
        rows = {row.key for row in known.rows if row.status != "skipped"}
        if self.retry_failed:
            rows -= {row.key for row in known.rows if row.status == "failed"}
        left = tuple(metric for metric in metrics if row_key(key, metric) not in rows)
        return ("score" if left else "stored"), "", left

    def _scoring(self, metrics: Sequence[Metric], method: Method, again: float | None) -> float:
        """Token steps at most: every point of every erasure metric asks for one masked text of every draw.

        `again` is what it costs to run the method once more on all examples.
        """
        each = math.fsum(metric.own_steps(length) for metric in metrics for length in self.job.prepared.lengths)
        repeats = sum(metric.repeats for metric in metrics if isinstance(metric, RerunMetric))
        trained = [
            retraining_steps(metric, self.job, method) for metric in metrics if isinstance(metric, RetrainMetric)
        ]
        return each * method.draws + repeats * (again or 0.0) + math.fsum(trained)

    def _cost(self, method: Method) -> tuple[float | None, float | None]:
        if method.steps is None:
            return None, None
        each = [method.steps(length) for length in self.job.prepared.lengths]
        return (
            math.fsum(forward for forward, _ in each) * method.draws,
            math.fsum(backward for _, backward in each) * method.draws,
        )

    def _explains(self, method: Method) -> bool:
        """Reference rows stand in every table; a variant explains models of its own training, others the suite's."""
        if method.kind == "reference":
            return True
        if asks_for_training(method):
            return method.training == self.job.training.procedure
        return self.job.training.procedure in self.own


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
