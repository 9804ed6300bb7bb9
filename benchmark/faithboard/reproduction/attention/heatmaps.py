"""Texts with the model's attention and the most different attention that keeps its output (figure 1 of the paper).

Only of public tasks: those of private ones are never shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from faithboard.classifier import predict
from faithboard.data.collate import collate
from faithboard.probes.adversarial import ADVERSARIAL, PAPER, search, starting_logits
from faithboard.reproduction.attention.claims import BILSTM
from faithboard.reproduction.attention.lines import HeatmapLine
from faithboard.reproduction.attention.measured import LENGTH, PREDICTED, Measured
from faithboard.rng import Rng, seed_of
from faithboard.stats import resampling
from faithboard.stored_models import loaded

if TYPE_CHECKING:
    from faithboard.plan import Prepared
    from faithboard.store import Store
    from faithboard.task import Task

SHORTEST, LONGEST = 8, 20
"""Words of the texts that are shown."""


def shown_task(order: Sequence[str], measured: Sequence[Measured], tasks: Mapping[str, Task]) -> Measured | None:
    """The BiLSTM of the first public task in the suite's order that has single texts; None when there is none."""
    of = {one.task: one for one in measured if one.model == BILSTM}
    public = (name for name in order if name in of and not tasks[name].private and tasks[name].layout == "single")
    return next((of[name] for name in public), None)


def heatmap_lines(one: Measured, prepared: Prepared, store: Store, device: torch.device) -> list[HeatmapLine]:
    """Of each predicted class the text with the largest divergence, of the model of the lowest seed.

    Raises ValueError for a private task.
    """
    if prepared.task.private:
        raise ValueError(f"texts of {prepared.task.name} are private and cannot be shown")
    chosen = list(_chosen(one, prepared.task.labels))
    if not chosen:
        return []
    record = one.records[0]
    model = loaded(record, prepared.data, store, device)
    of_id = {example.id: example for example in prepared.examples}
    examples = [of_id[name] for name in chosen]
    batch = collate(examples, prepared.data.vocabulary, prepared.task, device)
    start = starting_logits(Rng(seed_of("probe", ADVERSARIAL.name, record.seed), batch), PAPER[False])
    found = search(model, batch, start, PAPER[False])
    with torch.no_grad():
        attention = model(batch).attention
    predicted = predict(model, batch).argmax(1).tolist()
    accepted = found.distance <= PAPER[False].accepted
    best = found.divergence.masked_fill(~accepted, -1.0).argmax(1)
    lines = []
    for row, example in enumerate(examples):
        own, at = batch.scorable[row], int(best[row])
        lines.append(
            HeatmapLine(
                task=one.task,
                model=one.model,
                seed=record.seed,
                example=example.id,
                predicted=prepared.task.labels[predicted[row]],
                words=list(example.tokens),
                attention=[resampling.rounded(value) for value in attention[row][own]],
                adversarial=[resampling.rounded(value) for value in found.attention[row, at][own]],
                divergence=resampling.rounded(found.divergence[row, at]),
                distance=resampling.rounded(found.distance[row, at]),
            )
        )
    return lines


def _chosen(one: Measured, labels: Sequence[str]) -> Iterator[str]:
    """Ids of the examples that are shown, one per predicted class."""
    divergence = one.columns[f"{ADVERSARIAL.name}-max-jsd"][:, 0]
    length, predicted = one.columns[LENGTH][:, 0], one.columns[PREDICTED][:, 0]
    with np.errstate(invalid="ignore"):
        fits = (length >= SHORTEST) & (length <= LONGEST) & (divergence > 0)
    for label in one.classes(labels):
        own = np.where(fits & (predicted == label), divergence, -1.0)
        if own.max() > 0:
            yield one.examples[int(own.argmax())]
