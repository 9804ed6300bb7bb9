"""What a run will do, before it does it. Pure: data, definitions and the store's index in; a plan out.

Every combination of the suite appears in the plan with a state and, where it will not run, the reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from faithboard.attribution import Method
from faithboard.config import ModelConfig, TrainingConfig, configured
from faithboard.errors import SuiteError
from faithboard.keys import examples_key, explain_key, model_key, row_key, throughput_key
from faithboard.metric import ErasureMetric, Metric, Probe, RationaleMetric
from faithboard.models import capabilities, check_combination
from faithboard.resolve import Resolved
from faithboard.suites import Suite
from faithboard.task import Example, Task
from faithboard.training import check_training

if TYPE_CHECKING:
    from faithboard.data import TaskData
    from faithboard.store import Index

State = Literal["run", "score", "stored", "failed", "unsupported", "skipped"]


@dataclass(frozen=True)
class Prepared:
    """A task ready to be planned: its data, the examples to explain, the length of each in scorable tokens."""

    data: TaskData
    examples: Sequence[Example]
    lengths: Sequence[int]

    @property
    def task(self) -> Task:
        return self.data.task


@dataclass(frozen=True)
class PlannedExplanation:
    """One method on one model, or (method None) the probes of the model."""

    key: str
    method: Method | None
    sha256: str
    state: State
    reason: str = ""
    metrics: tuple[Metric, ...] = ()
    """Metrics without a stored row."""
    forward: float | None = 0.0
    """Planned token steps of all its examples and draws; None when the method does not say."""
    backward: float | None = 0.0
    untimed: bool = False
    """True when no speed of it on this machine is stored."""

    @property
    def name(self) -> str:
        return self.method.name if self.method else "probes"


@dataclass(frozen=True)
class PlannedJob:
    """One model to train (or load), and everything asked of it."""

    key: str
    prepared: Prepared
    model: ModelConfig
    training: TrainingConfig
    seed: int
    state: Literal["train", "stored", "failed"]
    reason: str
    train_steps: float
    """Token steps of training at most, forward and backward: epochs x training tokens x 2."""
    explanations: tuple[PlannedExplanation, ...]

    @property
    def title(self) -> str:
        return f"{self.prepared.task.name} / {self.model.name} / {self.training.procedure} / seed {self.seed}"

    @property
    def idle(self) -> bool:
        """True when everything asked of the model is stored or cannot be had."""
        return not any(one.state in ("run", "score") or one.untimed for one in self.explanations)


@dataclass(frozen=True)
class Plan:
    """All jobs of a suite, and what does not apply."""

    suite: Suite
    jobs: tuple[PlannedJob, ...]
    inapplicable: tuple[str, ...]
    """Metrics that a task cannot have, one sentence each."""

    def count(self, *states: State) -> int:
        return sum(one.state in states for job in self.jobs for one in job.explanations)


def make_plan(
    suite: Suite,
    prepared: Sequence[Prepared],
    methods: Sequence[Resolved],
    metrics: Sequence[Resolved],
    index: Index,
    vectors: Mapping[str, str],
    machine: Mapping[str, Any],
    *,
    retry_failed: bool = False,
    over_budget: bool = False,
) -> Plan:
    """Cross everything. `vectors` maps a source of embeddings to the identity of its content; `machine` is the
    provenance that a speed record needs.

    Raises SuiteError for a model that makes no sense on a task, before anything is trained.
    """
    inapplicable: list[str] = []
    jobs = []
    for one in prepared:
        usable = _applicable(one.task, [metric.value for metric in metrics], inapplicable)
        for name in suite.models:
            for training in _trainings(suite, methods):
                model, settings = configured(
                    name, one.task.profile, suite.settings_for(one.task.name), training=training
                )
                check_combination(model, one.task)
                check_training(settings, one.task)
                for seed in suite.seeds:
                    key = model_key(one.task, one.data.fingerprint, model, settings, seed, vectors[model.vectors])
                    planner = _Planner(suite, one, model, settings, key, index, machine, retry_failed, over_budget)
                    jobs.append(planner.job(seed, methods, usable))
    return Plan(suite, tuple(jobs), tuple(inapplicable))


@dataclass(frozen=True)
class _Planner:
    suite: Suite
    prepared: Prepared
    model: ModelConfig
    training: TrainingConfig
    key: str
    index: Index
    machine: Mapping[str, Any]
    retry_failed: bool
    over_budget: bool

    def job(self, seed: int, methods: Sequence[Resolved], metrics: Sequence[Metric]) -> PlannedJob:
        known = self.index.models.get(self.key)
        if known is None or (known.status == "failed" and self.retry_failed):
            state: Literal["train", "stored", "failed"] = "train"
        else:
            state = "failed" if known.status == "failed" else "stored"
        probes = [metric for metric in metrics if isinstance(metric, Probe)]
        scored = [metric for metric in metrics if not isinstance(metric, Probe)]
        planned = [self.explanation(one, scored) for one in methods if self._explains(one.value)]
        if probes:
            planned.append(self.probes(probes))
        train_tokens = sum(len(e.tokens) + len(e.query) for e in self.prepared.data.splits["train"])
        return PlannedJob(
            key=self.key,
            prepared=self.prepared,
            model=self.model,
            training=self.training,
            seed=seed,
            state=state,
            reason=known.reason if known and state == "failed" else "",
            train_steps=2.0 * self.training.epochs * train_tokens if state == "train" else 0.0,
            explanations=tuple(planned),
        )

    def explanation(self, one: Resolved, metrics: Sequence[Metric]) -> PlannedExplanation:
        method: Method = one.value
        key = explain_key(self.key, method.name, one.sha256, examples_key(self.prepared.examples))
        missing = method.needs - capabilities(self.model)
        if missing:
            reason = f"needs {', '.join(sorted(missing))}, which {self.model.name} has not"
            return PlannedExplanation(key, method, one.sha256, "unsupported", reason)
        forward, backward = self._cost(method)
        if forward is not None and backward is not None:
            steps = forward + backward
            if steps > self.suite.budget and not self.over_budget:
                reason = f"{steps:.3g} token steps are over the budget of {self.suite.budget:.3g}"
                return PlannedExplanation(key, method, one.sha256, "skipped", reason, (), forward, backward)
        state, reason, left = self._stored(key, metrics)
        untimed = state != "failed" and throughput_key(key, self.machine) not in self.index.throughput
        return PlannedExplanation(key, method, one.sha256, state, reason, left, forward, backward, untimed)

    def probes(self, metrics: Sequence[Probe]) -> PlannedExplanation:
        key = explain_key(self.key, "", "", examples_key(self.prepared.examples))
        able = [metric for metric in metrics if metric.needs <= capabilities(self.model)]
        if not able:
            needs = sorted(set().union(*(metric.needs for metric in metrics)))
            return PlannedExplanation(key, None, "", "unsupported", f"probes need {', '.join(needs)}")
        state, reason, left = self._stored(key, able)
        # Probes have no scores of their own to keep: what is missing is scored.
        return PlannedExplanation(key, None, "", "score" if state == "run" else state, reason, left, None, None)

    def _stored(self, key: str, metrics: Sequence[Metric]) -> tuple[State, str, tuple[Metric, ...]]:
        known = self.index.explanations.get(key)
        if (
            known is None
            or known.status in ("skipped", "unsupported")
            or (known.status == "failed" and self.retry_failed)
        ):
            return "run", "", tuple(metrics)
        if known.status == "failed":
            return "failed", f"{known.reason} (--retry-failed runs it again)", ()
        rows = {row.key for row in known.rows}
        left = tuple(metric for metric in metrics if row_key(key, metric) not in rows)
        return ("score" if left else "stored"), "", left

    def _cost(self, method: Method) -> tuple[float | None, float | None]:
        if method.steps is None:
            return None, None
        each = [method.steps(length) for length in self.prepared.lengths]
        return (
            math.fsum(forward for forward, _ in each) * method.draws,
            math.fsum(backward for _, backward in each) * method.draws,
        )

    def _explains(self, method: Method) -> bool:
        """A variant explains models of its own training only; any other method those of the suite's trainings."""
        if method.base is not None or method.training != "standard":
            return method.training == self.training.procedure
        return self.training.procedure in self.suite.trainings


def _trainings(suite: Suite, methods: Iterable[Resolved]) -> list[str]:
    return list(dict.fromkeys([*suite.trainings, *(method.value.training for method in methods)]))


def _applicable(task: Task, metrics: Iterable[Metric], inapplicable: list[str]) -> list[Metric]:
    usable: list[Metric] = []
    for metric in metrics:
        if isinstance(metric, RationaleMetric) and task.rationale is None:
            inapplicable.append(f"{metric.name} needs marked tokens, and {task.name} has none")
        elif not isinstance(metric, ErasureMetric | RationaleMetric | Probe):
            raise SuiteError(f"metric {metric.name} is of a kind this engine cannot run: {type(metric).__name__}")
        else:
            usable.append(metric)
    return usable
