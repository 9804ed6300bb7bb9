"""What a run will do, before it does it: every combination of a suite with a state and, if it will not run, why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from faithboard.attribution import Method
from faithboard.config import ModelConfig, TrainingConfig
from faithboard.metric import Metric
from faithboard.sources import Source
from faithboard.submitted import ModelDefinition
from faithboard.suites import Suite
from faithboard.task import Example, Task
from faithboard.training import Training

if TYPE_CHECKING:
    from faithboard.data import TaskData

State = Literal["run", "score", "stored", "failed", "unsupported", "skipped"]


@dataclass(frozen=True)
class Prepared:
    """A task ready to be planned: its data, the examples to explain, the length of each in scorable tokens."""

    data: TaskData
    examples: Sequence[Example]
    lengths: Sequence[int]
    reference: str = ""
    """How the suite refers to the task: its settings may stand under this or under the task's name."""

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
    scoring: float = 0.0
    """Planned token steps of its missing metrics at most: equal masks of several methods are evaluated once."""
    untimed: bool = False
    """True when no speed of it on this machine is stored."""
    refused: tuple[tuple[Metric, str], ...] = ()
    """Metrics that it will not have, and why, where that is not stored yet."""

    @property
    def name(self) -> str:
        return self.method.name if self.method else "probes"


@dataclass(frozen=True)
class PlannedJob:
    """One model to train (or load), and everything asked of it."""

    key: str
    prepared: Prepared
    model: ModelConfig | ModelDefinition
    """Settings of a reference model, or a person's own."""
    training: TrainingConfig
    seed: int
    state: Literal["train", "stored", "failed"]
    reason: str
    train_steps: float | None
    """Token steps of training at most, forward and backward: epochs x training tokens x passes x 2.

    None where a person's own model does not say.
    """
    procedure: Training
    """The definition behind `training`."""
    sha256: str = ""
    """Of a person's own model: the hash of what it is made of."""
    start: PlannedJob | None = None
    """The model it goes on from, of the training `init`; None for fresh weights."""
    explanations: tuple[PlannedExplanation, ...] = ()
    wanted: bool = False
    """True when the model itself is asked for, whatever is asked of it: a suite without methods trains."""

    @property
    def title(self) -> str:
        return f"{self.prepared.task.name} / {self.model.name} / {self.training.procedure} / seed {self.seed}"

    @property
    def only_times(self) -> bool:
        """True when nothing but the speed of stored explanations is left: nothing to train a model for."""
        waiting = any(one.state in ("run", "score") for one in self.explanations)
        return self.state == "stored" and not waiting and any(one.untimed for one in self.explanations)

    @property
    def idle(self) -> bool:
        """True when everything asked of the model is stored or cannot be had."""
        if self.state == "train" and (self.wanted or any(one.state == "stored" for one in self.explanations)):
            return False
        return not any(one.state in ("run", "score") or one.untimed for one in self.explanations)


@dataclass(frozen=True)
class Plan:
    """All jobs of a suite, and what does not apply."""

    suite: Suite
    jobs: tuple[PlannedJob, ...]
    metrics: tuple[str, ...]
    """Names of the rows that its metrics make; a probe makes one per column."""
    inapplicable: tuple[str, ...]
    """Metrics that a task cannot have, one sentence each."""
    sources: tuple[Source, ...] = ()
    """Files of a person's own that define something of it."""

    def count(self, *states: State) -> int:
        return sum(one.state in states for job in self.jobs for one in job.explanations)
