"""What is stored of one job: records of explanations, their rows, and why there are none."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd
import torch

from faithboard.erasure import MaskCount
from faithboard.errors import FaithboardError
from faithboard.importing import shortened
from faithboard.keys import row_key
from faithboard.plan import PlannedExplanation, PlannedJob
from faithboard.records import Explanation, ModelRecord, Row, Status
from faithboard.running.provenance import provenance
from faithboard.running.rows import row_without_value
from faithboard.store import Store


@dataclass
class Outcome:
    """What a run did. `failures` are sentences; the command line's exit code says whether there are any."""

    trained: int = 0
    explained: int = 0
    scored: int = 0
    timed: int = 0
    stored: int = 0
    masks: MaskCount = field(default_factory=MaskCount)
    """Masked texts that metrics asked for, and the distinct ones that were evaluated."""
    failures: list[str] = field(default_factory=list)


def reason_of(error: BaseException) -> str:
    """Why somebody's code failed: a message of ours as it is, anything else with the end of its traceback."""
    return str(error) if isinstance(error, FaithboardError) else f"it raised\n{shortened(error)}"


def submitted_files(job: PlannedJob, sources: Mapping[str, str], *names: str) -> dict[str, dict[str, str]]:
    """The submitted files behind a record, as its provenance names them: those of its model, and of `names`.

    `sources` maps kind and name of what was submitted to the hash of the stored file. Nothing where all is built in.
    """
    own = (f"task {job.prepared.task.name}", f"model {job.model.name}", f"training {job.training.procedure}", *names)
    found = {name: sources[name] for name in own if name in sources}
    return {"sources": found} if found else {}


@dataclass(frozen=True)
class Recorder:
    """Stores what comes of the explanations of one job, and counts it in `outcome`."""

    job: PlannedJob
    store: Store
    device: torch.device
    outcome: Outcome
    sources: Mapping[str, str]
    """See `submitted_files`."""

    def blank(self, one: PlannedExplanation, weights: str, status: Status = "ok", reason: str = "") -> Explanation:
        """The record of an explanation without costs and rows; `weights` is the hash of the model's."""
        job, method, examples = self.job, one.method, self.job.prepared.examples
        return Explanation(
            key=one.key,
            model_key=job.key,
            task=job.prepared.task.name,
            model=job.model.name,
            training=job.training.procedure,
            seed=job.seed,
            weights_sha256=weights,
            method=method.name if method else "",
            method_sha256=one.sha256,
            kind=method.kind if method else "probe",
            signed=method.signed if method else False,
            status=status,
            reason=reason,
            examples=len(examples),
            truncated=sum(example.truncated > 0 for example in examples),
            draws=method.draws if method else 1,
            provenance=provenance(self.device)
            | submitted_files(job, self.sources, f"method {method.name}" if method else ""),
        )

    def rows(self, record: Explanation, fresh: list[Row], values: pd.DataFrame | None) -> None:
        """Store fresh rows of an explanation, and their values, beside the rows of other metrics it has."""
        device = provenance(self.device)["device"]
        rows = [dataclasses.replace(row, device=device) for row in fresh]
        names = {row.metric for row in rows}
        kept = [row for row in record.rows if row.metric not in names]
        metrics = {name: sha for name, sha in self.sources.items() if name.removeprefix("metric ") in names}
        known = record.provenance.get("sources", {}) | metrics
        by = record.provenance | ({"sources": known} if known else {})
        self.store.save_explanation(dataclasses.replace(record, rows=kept + rows, provenance=by), values)
        self.outcome.scored += len(rows)

    def refused(self) -> None:
        """Store the reasons of what will not run, and repeat those of what failed before."""
        for one in self.job.explanations:
            if one.state in ("unsupported", "skipped"):
                known = self.store.explanation(one.key)
                if known is None or known.reason != one.reason:
                    self.store.save_explanation(self.blank(one, "", one.state, one.reason))
            elif one.state == "failed":
                self.outcome.failures.append(f"{one.name} on {self.job.title}: {one.reason}")

    def untrained(self, reason: str) -> None:
        """There is no model: whatever was to run failed with it."""
        self.outcome.failures.append(f"training {self.job.title}: {reason}")
        for one in self.job.explanations:
            if one.state == "run":
                self.store.save_explanation(self.blank(one, "", "failed", f"its model failed: {reason}"))

    def model_failed(self, model: ModelRecord, reason: str) -> None:
        """The model was trained and then failed: so has every explanation and row that is not stored yet."""
        self.outcome.failures.append(f"the model of {self.job.title}: {reason}")
        reason = f"its model failed: {reason}"
        for one in self.job.explanations:
            known = self.store.explanation(one.key)
            if known is None or known.weights_sha256 != model.weights_sha256:
                if one.state in ("run", "score"):
                    self.store.save_explanation(self.blank(one, model.weights_sha256, "failed", reason))
            elif known.status == "ok":
                have = {row.key for row in known.rows if row.status != "skipped"}
                missing = [metric for metric in one.metrics if row_key(one.key, metric) not in have]
                rows = [
                    dataclasses.replace(row_without_value(one.key, metric, "failed", reason), metric=name)
                    for metric in missing
                    for name in metric.rows
                ]
                if rows:
                    self.rows(known, rows, None)
