"""Metrics that run a method again on changed models, the same changes for every method."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
import torch

from faithboard.attribution import Method
from faithboard.classifier import Classifier
from faithboard.data import TaskData
from faithboard.data.collate import collate
from faithboard.metric import RerunMetric
from faithboard.rng import Rng, seed_of
from faithboard.running.chunk import Read, dense
from faithboard.running.explaining import chunks, explain_batch
from faithboard.running.scoring import VALUES, Scored
from faithboard.task import Example


def rerun(
    model: Classifier,
    method: Method,
    data: TaskData,
    examples: Sequence[Example],
    scores: pd.DataFrame,
    metric: RerunMetric,
    seed: int,
    *,
    advance: Callable[[int], None],
) -> Scored:
    """Values of `metric`, the mean over draws; each draw of the method is repeated with its own random numbers.

    `scores` are the method's on the model as it is: see `explaining.Explained`. What the method or the metric raises
    passes.
    """
    read = Read.of(scores)
    rows: list[tuple[str, str, float, list[float]]] = []
    excluded = 0
    for _, members in chunks(examples):
        batch = collate(members, data.vocabulary, data.task, model.device)
        rng = Rng(seed_of(metric.name, seed), batch)
        changed = (metric.changed(model, batch, rng) for _ in range(metric.repeats))
        again = [Read.of(explain_batch(one, method, batch, seed)) for one in changed]
        draws = []
        for draw in range(read.draws):
            first, *others = (
                dense([r.scores[n][draw] for n in batch.example_id], batch).double() for r in (read, *again)
            )
            draws.append(metric.score(first, torch.stack(others, 1)))
        value = torch.stack(draws).nanmean(0).tolist()
        counted = (batch.scorable_lengths >= 2).tolist()
        excluded += counted.count(False)
        rows += [
            (metric.name, name, found, [])
            for name, found, counts in zip(batch.example_id, value, counted, strict=True)
            if counts
        ]
        advance(len(members))
    return Scored(pd.DataFrame(rows, columns=list(VALUES)), {metric.name: excluded})
