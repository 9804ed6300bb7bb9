"""What is trained on one task: keys, settings that make sense, and what is stored or failed before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from faithboard.config import ModelConfig, TrainingConfig, configured
from faithboard.errors import SuiteError, near
from faithboard.keys import model_key, submitted_model_key
from faithboard.models import check_combination
from faithboard.plan import PlannedJob, Prepared
from faithboard.resolve import Resolved
from faithboard.submitted import ModelDefinition
from faithboard.suites import Suite
from faithboard.task import Task
from faithboard.training import BUILTIN, STANDARD, Training, check_training

if TYPE_CHECKING:
    from faithboard.store import Index


def checked(
    suite: Suite, reference: str, task: Task, name: str, training: Training
) -> tuple[ModelConfig, TrainingConfig]:
    """Settings of a reference model and its training on a task of a suite; no data is read. Raises SuiteError when they
    make no sense."""
    model, settings = configured(name, task.profile, suite.settings_for(reference, task.name), training=training.name)
    check_combination(model, task)
    check_training(settings, task, training)
    return model, settings


@dataclass(frozen=True)
class Models:
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
        definition, content = self._definition(training)
        model, settings = checked(self.suite, self.prepared.reference, task, name, definition)
        start = None if settings.init is None else self.job(name, settings.init, seed)
        used = definition.used(settings) | ({} if start is None else {"init": start.key})
        key = model_key(task, data.fingerprint, model, used, seed, self.vectors[model.vectors], content)
        state, reason = self._state(key)
        part = 1.0 if settings.train_examples is None else settings.train_examples / len(data.splits["train"])
        steps = 2.0 * definition.passes * settings.epochs * part * self.training_tokens if state == "train" else 0.0
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
