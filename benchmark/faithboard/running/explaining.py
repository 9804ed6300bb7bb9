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
from faithboard.errors import ContractError
from faithboard.rng import Rng, seed_of
from faithboard.running.weights import weights_sha256
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

    Raises ContractError when the method breaks its contract, changes the model or draws from torch's global random
    state; whatever else it raises passes.
    """
    parts = []
    weights, switches, randomness = weights_sha256(model.state_dict()), _switches(model), torch.get_rng_state()
    for number, members in chunks(examples):
        part = load_part(number)
        if part is None:
            batch = collate(members, data.vocabulary, data.task, model.device)
            part = explain_batch(model, method, batch, seed)
            if _switches(model) != switches:
                raise ContractError(f"method {method.name} changed the model; it must leave it as it found it")
            if not torch.equal(torch.get_rng_state(), randomness):
                raise ContractError(f"method {method.name} drew from torch's global random state; draw from its rng")
            save_part(number, part)
        parts.append(part)
        advance(len(members))
    if weights_sha256(model.state_dict()) != weights:
        raise ContractError(f"method {method.name} changed the model's weights; it must leave it as it found it")
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


def _switches(model: Classifier) -> list[tuple[object, ...]]:
    """What a method could leave behind beside changed weights: gradients, modes, hooks."""
    parameters = [(p.requires_grad, p.grad is None) for p in model.parameters()]
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    modules = [(module.training, *(len(getattr(module, name)) for name in hooks)) for module in model.modules()]
    return [*parameters, *modules]
