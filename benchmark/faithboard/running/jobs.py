"""Carry out a plan: train, explain, score, time. The only stage that touches a device.

Results are written as each is done. A method that fails fails alone: its explanation is stored with the reason and the
others go on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
import torch

from faithboard.attribution import Method
from faithboard.background import Background
from faithboard.classifier import Classifier
from faithboard.data.collate import collate
from faithboard.errors import DataError, FaithboardError, StoreError
from faithboard.keys import stages_key, throughput_key
from faithboard.metric import Probe, RerunMetric, RetrainMetric, RunsMethods
from faithboard.performance import probabilities
from faithboard.plan import Plan, PlannedExplanation, PlannedJob
from faithboard.records import Explanation, ModelRecord
from faithboard.running.copies import copied
from faithboard.running.explaining import explain_all
from faithboard.running.fitting import fitted
from faithboard.running.progress import Progress
from faithboard.running.provenance import provenance
from faithboard.running.recording import Outcome, Recorder, reason_of
from faithboard.running.rerunning import rerun
from faithboard.running.retraining import Retraining
from faithboard.running.rows import metric_row, probe_rows, row_without_value
from faithboard.running.scoring import VALUES, Scored, ToScore, probe_all, score_all
from faithboard.running.throughput import measure
from faithboard.store import Store
from faithboard.submitted import ModelDefinition


def run(plan: Plan, store: Store, device: torch.device, progress: Progress) -> Outcome:
    """Do everything the plan says, job by job, and note in the store which explanations the suite is made of."""
    stored = [one for job in plan.jobs for one in job.explanations if one.state == "stored" and one.method is not None]
    outcome = Outcome(stored=len(stored))
    for source in plan.sources:
        store.save_source(source)
    sources = {defined: source.sha256 for source in plan.sources for defined in source.defines}
    for job in plan.jobs:
        _Job(job, store, device, progress, outcome, Recorder(job, store, device, outcome, sources)).run()
        store.add_to_suite(plan.suite, plan.metrics, job.key, [one.key for one in job.explanations])
    return outcome


@dataclass
class _Job:
    job: PlannedJob
    store: Store
    device: torch.device
    progress: Progress
    outcome: Outcome
    recorder: Recorder
    background: Background | None = None
    """The training texts, once a method has asked for them."""

    def run(self) -> None:
        self.recorder.refused()
        if self.job.state == "failed":
            self.recorder.untrained(f"{self.job.reason} (--retry-failed trains again)")
            return
        # Where nothing is asked but the model itself, as `faithboard train` does, a stored one is looked at.
        only_checked = self.job.idle and self.job.wanted and not self.job.explanations
        if self.job.idle and not only_checked:
            return
        if (self.job.only_times or only_checked) and not self.store.has_weights(self.job.key):
            # Results of another folder come without: a training for the sake of a clock would replace their model.
            left = "it is not checked" if only_checked else "its methods are not timed"
            self.progress.say(f"{self.job.title}: its weights are not here, so {left}")
            return
        try:
            found = fitted(self.job, self.store, self.device, self.progress, self.recorder.sources)
        except (DataError, StoreError):
            raise
        except FaithboardError as error:
            self.recorder.untrained(str(error))
            return
        model, record = found.model, found.record
        # One that another job went on from was trained there already, and is counted here.
        if found.fresh or self.job.state == "train":
            self.outcome.trained += 1
            reached = f"{record.performance_measure} {record.performance[record.performance_measure]:.3f}"
            gate = "passes" if record.gate_passed else "does not pass"
            self.progress.say(f"trained {self.job.title}: {reached} on the test split, {gate} the accuracy gate")
        if not self.job.explanations:
            return
        try:
            self._explain_and_score(model, record)
        except StoreError:
            raise
        except (Exception, SystemExit) as error:
            if not isinstance(self.job.model, ModelDefinition):
                raise
            # A person's own model may fail on a text that no test of it had: its own job ends here.
            self.recorder.model_failed(record, reason_of(error))

    def _explain_and_score(self, model: Classifier, record: ModelRecord) -> None:
        share = self._share_correct(model)
        records: dict[str, Explanation] = {}
        for one in self.job.explanations:
            if one.state in ("stored", "score") and (known := self.store.explanation(one.key)):
                # Scores of weights that are gone are not scored on others; the next plan computes them again.
                if known.weights_sha256 == record.weights_sha256:
                    records[one.key] = known
            elif one.state in ("run", "score"):
                blank = dataclasses.replace(self.recorder.blank(one, record.weights_sha256), share_correct=share)
                found = blank if one.method is None else self._explain(one, model, blank)
                if found is not None:
                    records[one.key] = found
        self._score(model, records)
        self._probe(model, records)
        for one in self.job.explanations:
            if one.untimed and one.key in records:
                self._time(one, model)

    def _explain(self, one: PlannedExplanation, model: Classifier, blank: Explanation) -> Explanation | None:
        """Compute and store an explanation; None when its method fails."""
        assert one.method is not None
        job, store = self.job, self.store
        try:
            with self.progress.bar(f"explain {job.title} / {one.name}", len(job.prepared.examples)) as advance:
                found = explain_all(
                    model,
                    self._ready(one.method),
                    job.prepared.data,
                    job.prepared.examples,
                    job.seed,
                    load_part=lambda number: store.part(one.key, number),
                    save_part=lambda number, part: store.save_part(one.key, number, part),
                    advance=advance,
                )
        except StoreError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001  a method is anybody's code: whatever it raises is its own failure
            reason = reason_of(error)
            store.save_explanation(dataclasses.replace(blank, status="failed", reason=reason))
            self.outcome.failures.append(f"{one.name} on {job.title}: {reason}")
            return None
        store.save_scores(one.key, found.scores[["example", "draw", "scores", "total"]])
        done = dataclasses.replace(blank, forward_steps=found.forward, backward_steps=found.backward)
        store.save_explanation(done)
        self.outcome.explained += 1
        return done

    def _ready(self, method: Method) -> Method:
        """The method, with its background if it needs one."""
        if "background" not in method.needs:
            return method
        if self.background is None:
            self.background = Background.of(self.job.prepared.data)
        return method.given(self.background)

    def _score(self, model: Classifier, records: Mapping[str, Explanation]) -> None:
        """Metrics without a row, of all explanations at once, so that their masks share one pool."""
        asked = [one for one in self.job.explanations if one.method is not None and one.key in records]
        wanted = {one.key: ToScore(self.store.scores(one.key), one.metrics) for one in asked if one.metrics}
        job, examples = self.job, self.job.prepared.examples
        scored: dict[str, Scored] = {}
        if any(not isinstance(metric, RunsMethods) for one in wanted.values() for metric in one.metrics):
            with self.progress.bar(f"score {job.title}", len(examples)) as advance:
                scored = score_all(
                    model, job.prepared.data, examples, wanted, job.seed, advance=advance, count=self.outcome.masks
                )
        for one in asked:
            rows = [row_without_value(one.key, metric, "skipped", reason) for metric, reason in one.refused]
            parts = []
            for metric in one.metrics:
                if isinstance(metric, RunsMethods):
                    found = self._with_method(one, metric, model, records[one.key], wanted[one.key].scores)
                else:
                    found = scored[one.key]
                rows.append(metric_row(one.key, metric, found, job.seed))
                parts.append(found.values[found.values["metric"] == metric.name])
            if rows:
                self.recorder.rows(records[one.key], rows, pd.concat(parts, ignore_index=True) if parts else None)
            retrained = {metric.name for metric in one.metrics if isinstance(metric, RetrainMetric)}
            # Stages of one that failed stay: running it again goes on from them.
            if retrained and not any(row.metric in retrained and row.status == "failed" for row in rows):
                self.store.drop_stages(one.key)
        failed = {name: reason for found in scored.values() for name, reason in found.failed.items()}
        self.outcome.failures += [f"metric {name} on {job.title}: {reason}" for name, reason in failed.items()]

    def _with_method(
        self,
        one: PlannedExplanation,
        metric: RerunMetric | RetrainMetric,
        model: Classifier,
        record: Explanation,
        scores: pd.DataFrame,
    ) -> Scored:
        """A metric that runs the method again; one that fails is a failed row of this method alone."""
        assert one.method is not None
        job, examples = self.job, self.job.prepared.examples
        try:
            if isinstance(metric, RetrainMetric):
                stages = self.store.stages(one.key, stages_key(record.weights_sha256, metric))
                return Retraining(job, model, one.method, stages, self.progress).scored(metric)
            with self.progress.bar(f"{metric.name} {job.title} / {one.name}", len(examples)) as advance:
                return rerun(
                    copied(model),
                    self._ready(one.method),
                    job.prepared.data,
                    examples,
                    scores,
                    metric,
                    job.seed,
                    advance=advance,
                )
        except StoreError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001  as in `_explain`
            reason = reason_of(error)
            self.outcome.failures.append(f"{metric.name} of {one.name} on {job.title}: {reason}")
            return Scored(pd.DataFrame(columns=list(VALUES)), failed={metric.name: reason})

    def _probe(self, model: Classifier, records: Mapping[str, Explanation]) -> None:
        job, examples = self.job, self.job.prepared.examples
        for one in job.explanations:
            probes = [metric for metric in one.metrics if isinstance(metric, Probe)]
            if not probes:
                continue
            with self.progress.bar(f"probe {job.title}", len(examples)) as advance:
                values = probe_all(model, job.prepared.data, examples, probes, job.seed, advance=advance)
            rows = [row for probe in probes for row in probe_rows(one.key, probe, values, job.seed)]
            self.recorder.rows(records[one.key], rows, values)

    def _time(self, one: PlannedExplanation, model: Classifier) -> None:
        assert one.method is not None
        data, examples = self.job.prepared.data, self.job.prepared.examples
        batch = collate(examples[:64], data.vocabulary, data.task, model.device)
        try:
            with self.progress.bar(f"time {self.job.title} / {one.name}", 1) as advance:
                found = measure(copied(model), self._ready(one.method), batch, explain_key=one.key, seed=self.job.seed)
                advance(1)
        except (Exception, SystemExit) as error:  # noqa: BLE001  as above: a method that fails while it is timed keeps its scores
            self.outcome.failures.append(f"timing {one.name} on {self.job.title}: {reason_of(error)}")
            return
        self.store.save_throughput(throughput_key(one.key, provenance(self.device)), found)
        self.outcome.timed += 1

    def _share_correct(self, model: Classifier) -> float:
        data, examples = self.job.prepared.data, self.job.prepared.examples
        found = probabilities(model, examples, data, model.device).argmax(1).tolist()
        return sum(j == example.label for j, example in zip(found, examples, strict=True)) / len(examples)
