"""The records that are stored, compared and reported. Plain frozen data, one JSON object each.

Nothing is dropped in silence: what is undefined, excluded, truncated or failed is a field here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, Self

Status = Literal["ok", "failed", "skipped", "unsupported"]


@dataclass(frozen=True)
class _Json:
    def to_json(self) -> dict[str, Any]:
        """The record as JSON types."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """The record from stored JSON; fields of older or newer versions that are not known here are ignored."""
        known = {f.name for f in fields(cls)}
        return cls(**{name: value for name, value in stored.items() if name in known})


@dataclass(frozen=True)
class ModelRecord(_Json):
    """One trained model: a job of a suite, before anything is explained."""

    key: str
    task: str
    task_version: int
    fingerprint: str
    fingerprint_name: str
    """Name of the data (`published`, `generated`, ...); `unverified` when its fingerprint is not known."""
    model: str
    training: str
    seed: int
    config: dict[str, Any]
    """Model and training settings as used."""
    family: str = ""
    """Tasks of one family count once in a mean over tasks; empty for a task that is its own."""
    status: Status = "ok"
    reason: str = ""
    weights_sha256: str = ""
    performance: dict[str, float] = field(default_factory=dict)
    """Measures on the full test split, such as `accuracy`, `f1-weighted`, `roc-auc`."""
    performance_measure: str = "accuracy"
    """The one the task is judged by."""
    gate_passed: bool = False
    gate: dict[str, float] = field(default_factory=dict)
    """`bound`: one-sided 95 % bootstrap bound; `threshold`: what it must exceed (definitions, section 6)."""
    data: dict[str, Any] = field(default_factory=dict)
    """Rows used, excluded and truncated per split, vocabulary size, embedding coverage."""
    known_truth: dict[str, float] = field(default_factory=dict)
    """For planted tasks: accuracy with, without and with swapped planted tokens; `verified` is 1.0 or 0.0."""
    history: list[dict[str, float]] = field(default_factory=list)
    """One entry per epoch: loss, dev score, seconds."""
    provenance: dict[str, Any] = field(default_factory=dict)
    """Device, threads, torch and faithboard versions, seconds, time of day."""
    training_cost: dict[str, Any] = field(default_factory=dict)
    """An epoch of its training and one of standard training measured beside it (`training.cost`): `seconds`,
    `memory_mb` (MiB), `standard_seconds`, `standard_memory_mb`, and where and with what. Empty where it was not
    measured; in no key."""


@dataclass(frozen=True)
class Throughput(_Json):
    """Speed of the explain step alone, on one device; a record of its own beside the scores."""

    explain_key: str
    method: str
    device: str
    """`cpu` or the name of the GPU."""
    dtype: str
    torch: str
    threads: int
    examples: int
    batch_size: int
    repeats: int
    seconds: float
    """Median over the repeats."""
    seconds_spread: float | None
    """Largest minus smallest repeat; None for one repeat."""
    examples_per_second: float
    tokens_per_second: float
    peak_memory_mb: float | None
    """Above the weights; None where it cannot be measured (on a CPU)."""
    energy_joules: float | None = None


@dataclass(frozen=True)
class Row(_Json):
    """One metric on one explanation (or one probe on one model)."""

    key: str
    metric: str
    metric_version: int
    parameters: dict[str, Any]
    better: Literal["higher", "lower", "neither"]
    kind: Literal["erasure", "retraining", "amounts", "sensitivity", "sanity", "rationale", "probe"] = "erasure"
    """Class of the metric. Rationale metrics count as plausibility, except where the tokens are planted."""
    status: Status = "ok"
    reason: str = ""
    value: float | None = None
    """Mean (`statistic`) over the defined examples of the mean over draws; undefined ones are left out here, in a
    ranking they have the random baseline's value."""
    low: float | None = None
    high: float | None = None
    """95 % bootstrap interval over examples, for this seed alone."""
    n: int = 0
    """Examples that count, undefined ones among them; the value is a mean over `n - undefined`."""
    undefined: int = 0
    """Examples with no defined value: their scores give no order, or the metric says nothing of them."""
    excluded: int = 0
    """Examples left out for every method alike (fewer than two tokens, wrong predictions on planted tasks)."""
    points: list[str] = field(default_factory=list)
    curve: list[float] = field(default_factory=list)
    """Mean of each point, in the order of `points`."""
    curve_low: list[float] = field(default_factory=list)
    """95 % bootstrap interval of each point over examples, for this seed alone; that of `random` is the band of a
    curve."""
    curve_high: list[float] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    """What holds for some of the explained examples, in words (`over 50 tokens, not computed`) -> for how many."""
    statistic: Literal["mean", "median"] = "mean"
    """What `value` is of the defined examples."""
    expectation: float | None = None
    """What a random order has in expectation, where the metric can say so."""
    device: str = ""
    """Where it was scored: `cpu` or the name of the GPU; empty for where it was explained."""


@dataclass(frozen=True)
class Explanation(_Json):
    """One method on one trained model, or (method empty) the probes of that model, with its rows."""

    key: str
    model_key: str
    task: str
    model: str
    training: str
    seed: int
    weights_sha256: str
    method: str
    method_sha256: str = ""
    """Hash of the file that defines the method."""
    kind: str = ""
    signed: bool = False
    status: Status = "ok"
    reason: str = ""
    examples: int = 0
    truncated: int = 0
    """Explained examples that were cut at the task's length limit."""
    draws: int = 1
    forward_steps: float | None = None
    """Token steps through the encoder per example and draw."""
    backward_steps: float | None = None
    share_correct: float | None = None
    """Share of the explained examples that the model predicts right."""
    rows: list[Row] = field(default_factory=list)
    provenance: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """The explanation with its rows."""
        plain = super().from_json({**stored, "rows": []})
        plain.rows.extend(Row.from_json(row) for row in stored.get("rows", []))
        return plain
