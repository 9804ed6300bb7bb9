"""What is asked of one model: methods and metrics it can have, what is stored, what is over the budget."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from faithboard.attribution import Method
from faithboard.keys import examples_key, explain_key, row_key, throughput_key
from faithboard.metric import ErasureMetric, Metric, Probe, RerunMetric, RetrainMetric
from faithboard.models import capabilities
from faithboard.plan import PlannedExplanation, PlannedJob, State
from faithboard.planning.retraining import retraining_steps
from faithboard.resolve import Resolved, asks_for_training
from faithboard.submitted import ModelDefinition
from faithboard.suites import Suite

if TYPE_CHECKING:
    from faithboard.store import Index


@dataclass(frozen=True)
class Questions:
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
            steps = math.fsum(m.shared_steps(length) for m in new for length in self._lengths(m))
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
        each = math.fsum(metric.own_steps(length) for metric in metrics for length in self._lengths(metric))
        repeats = sum(metric.repeats for metric in metrics if isinstance(metric, RerunMetric))
        trained = [
            retraining_steps(metric, self.job, method) for metric in metrics if isinstance(metric, RetrainMetric)
        ]
        return each * method.draws + repeats * (again or 0.0) + math.fsum(trained)

    def _lengths(self, metric: Metric) -> Sequence[int]:
        """Scorable lengths of the examples that a metric is computed for."""
        return self.job.prepared.lengths[: metric.most if isinstance(metric, ErasureMetric) else None]

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
