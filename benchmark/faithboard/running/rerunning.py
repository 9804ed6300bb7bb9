"""Metrics that run a method again on changed models, the same changes for every method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pandas as pd
import torch
from torch import Tensor

from faithboard.attribution import Method
from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.data import TaskData
from faithboard.data.collate import collate
from faithboard.metric import RerunMetric
from faithboard.rng import Rng, seed_of
from faithboard.running.explaining import chunks, explain_batch
from faithboard.running.read import Read, dense
from faithboard.running.scoring import VALUES, Scored
from faithboard.task import Example

if TYPE_CHECKING:
    from jaxtyping import Float64


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
        changed = (metric.changed(model, batch, rng, repeat) for repeat in range(metric.repeats))
        again = [None if one is None else Read.of(explain_batch(one, method, batch, seed)) for one in changed]
        draws = []
        for draw in range(read.draws):
            first, *others = (_scores(one, draw, batch) for one in (read, *again))
            draws.append(metric.score(first, torch.stack(others, 1), batch.scorable))
        value = torch.stack(draws).nanmean(0).reshape(len(batch), -1).tolist()
        counted = (batch.scorable_lengths >= 2).tolist()
        excluded += counted.count(False)
        rows += [
            (metric.name, name, found[-1], found if metric.points else [])
            for name, found, counts in zip(batch.example_id, value, counted, strict=True)
            if counts
        ]
        advance(len(members))
    return Scored(pd.DataFrame(rows, columns=list(VALUES)), {metric.name: excluded})


def _scores(read: Read | None, draw: int, batch: Batch) -> Float64[Tensor, "batch token"]:
    """Scores of one draw, 0 where not scorable; NaN everywhere where nothing was run."""
    if read is None:
        return torch.full(batch.ids.shape, torch.nan, dtype=torch.float64, device=batch.device)
    return dense([read.scores[name][draw] for name in batch.example_id], batch).double()
