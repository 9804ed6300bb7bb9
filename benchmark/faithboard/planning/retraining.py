"""What a metric that retrains will cost, in token steps, before anything is run. Pure."""

from __future__ import annotations

import math
from collections import Counter

from faithboard.attribution import Method
from faithboard.data.removal import bin_size, scorable_length
from faithboard.metric import RetrainMetric
from faithboard.plan import PlannedJob


def retraining_steps(metric: RetrainMetric, job: PlannedJob, method: Method) -> float:
    """Token steps, forward and backward, of `metric` for one method and model, at most; stages that are kept count too.

    A training for each share, on as many words as are left; and explanations of the training and dev texts and of the
    job's test texts, whole and, for a recursive metric, as they are left at each share but the last. A method that does
    not say what it costs adds nothing.
    """
    prepared, procedures = job.prepared, _procedures(job)
    splits = {split: prepared.data.splits[split] for split in ("train", "dev")} | {"test": prepared.examples}
    lengths = {
        split: Counter(scorable_length(example, prepared.task) for example in examples)
        for split, examples in splits.items()
    }
    words = sum(len(example.tokens) + len(example.query) for example in splits["train"])
    steps = []
    for share in metric.shares:
        gone = sum(bin_size(length, share) * count for length, count in lengths["train"].items())
        steps.append(2.0 * procedures * (words - gone))
    if method.steps is not None:
        every = sum(lengths.values(), Counter[int]())
        for share in (0, *metric.shares[:-1]) if metric.recursive else (0,):
            left = ((length - bin_size(length, share), count) for length, count in every.items())
            steps += [sum(method.steps(length)) * count for length, count in left if length]
    return math.fsum(steps)


def _procedures(job: PlannedJob) -> int:
    """Passes over the training texts of one training, with those of the model that it goes on from."""
    own = job.procedure.passes * job.training.epochs
    return own + (0 if job.start is None else _procedures(job.start))
