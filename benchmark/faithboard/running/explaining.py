"""The explain step: a method on the sampled examples, in chunks that survive a kill.

A chunk holds the same examples in every run, and every draw belongs to its example, so a resumed explanation equals an
undisturbed one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
import torch

from faithboard.attribution import Attribution, Method
from faithboard.batch import Batch
from faithboard.buckets import token_batches, token_budget
from faithboard.classifier import Classifier, Steps, count_steps
from faithboard.data import TaskData
from faithboard.data.collate import collate
from faithboard.rng import Rng, seed_of
from faithboard.running.copies import Watch, copied
from faithboard.task import Example

CHUNK = 64
"""Examples per stored chunk."""

COLUMNS = ("example", "draw", "scores", "total", "forward", "backward")


@dataclass(frozen=True)
class Explained:
    """Scores of all examples and draws, and what they cost."""

    scores: pd.DataFrame
    """Columns example, draw, scores (one per scorable token), total (NaN without a promise), forward, backward."""

    @property
    def forward(self) -> float:
        """Token steps per example and draw."""
        return float(self.scores["forward"].mean())

    @property
    def backward(self) -> float:
        """The same, backward."""
        return float(self.scores["backward"].mean())


def chunks(examples: Sequence[Example]) -> Iterator[tuple[int, Sequence[Example]]]:
    """(number, examples) of each chunk."""
    for number, start in enumerate(range(0, len(examples), CHUNK)):
        yield number, examples[start : start + CHUNK]


def explain_all(
    model: Classifier,
    method: Method,
    data: TaskData,
    examples: Sequence[Example],
    seed: int,
    *,
    load_part: Callable[[int], pd.DataFrame | None],
    save_part: Callable[[int, pd.DataFrame], None],
    advance: Callable[[int], None],
) -> Explained:
    """Scores of `method` on every example, chunk by chunk; chunks that are stored are not computed again.

    The method runs on a copy of `model`. Raises ContractError when it breaks its contract, changes the copy or draws
    from a global random state, before anything of the chunk is stored; whatever else it raises passes.
    """
    parts = []
    own = copied(model)
    watch = Watch(model, own)
    for number, members in chunks(examples):
        part = load_part(number)
        if part is None:
            batch = collate(members, data.vocabulary, data.task, model.device)
            part = explain_batch(own, method, batch, seed)
            watch.check(method.name)
            save_part(number, part)
        parts.append(part)
        advance(len(members))
    return Explained(pd.concat(parts, ignore_index=True))


def explain_batch(model: Classifier, method: Method, batch: Batch, seed: int) -> pd.DataFrame:
    """All draws of a method on one batch, computed in sub-batches of similar length. Columns as in `Explained`.

    Token steps are those of a sub-batch shared out over its examples.
    """
    rows = []
    for draw in range(method.draws):
        for part, steps, found in _found(model, method, batch, seed_of("explain", seed, draw)):
            totals = [float("nan")] * len(part) if found.total is None else found.total.cpu().tolist()
            for row, name in enumerate(part.example_id):
                scores = found.scores[row, part.scorable[row]].cpu().numpy()
                rows.append((name, draw, scores, totals[row], steps.forward / len(part), steps.backward / len(part)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _found(model: Classifier, method: Method, batch: Batch, seed: int) -> Iterator[tuple[Batch, Steps, Attribution]]:
    """Each sub-batch with its cost and scores. One that does not fit into memory is halved."""
    waiting = list(token_batches(batch.lengths, token_budget(batch.device)))
    while waiting:
        index = waiting.pop(0)
        part = batch.rows(index)
        try:
            with count_steps(model) as steps:
                found = method(model, part, Rng(seed, part))
        except torch.OutOfMemoryError:
            if len(index) == 1:
                raise
            waiting[:0] = index.tensor_split(2)
            continue
        yield part, steps, found
