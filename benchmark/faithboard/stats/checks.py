"""Questions to the models before any explanation is ranked: does attention matter for the task, does the text? Pure.

* Attention check (Bastings & Filippova 2020, section 3; Wiegreffe & Pinter 2019): the accuracy of the same encoder
  without attention, with uniform and with random attention, against learned attention. Where it does not drop,
  attention does not matter for the task, whatever its weights show.
* Partial input: the accuracy of the same model on the query alone. Where the text adds little, an explanation of the
  text is worth little.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from faithboard.records import ModelRecord, _Json
from faithboard.stats import resampling

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy import ndarray

_Estimate = tuple[float | None, float | None, float | None]
"""A value and its 95 % interval."""

CONTROLS = ("none", "uniform", "random")
"""Attention that is not learned."""


@dataclass(frozen=True)
class ModelCheck(_Json):
    """One architecture and training on one task, over its seeds, on the full test split."""

    task: str
    fingerprint: str
    encoder: str
    attention: str
    training: str
    seeds: list[int]
    n: int
    """Test examples."""
    accuracy: float
    low: float
    high: float
    """95 % bootstrap interval over examples, conditional on the trained models."""
    seed_spread: float | None
    """Standard deviation (ddof 1) of the accuracy per seed; None for one seed."""
    against: str = ""
    """For a control: the model with learned attention it is compared with; empty where there is none."""
    against_accuracy: float | None = None
    """Accuracy of `against`, on the seeds that both have; None in lines of earlier releases."""
    loss: float | None = None
    """That less the accuracy of this control on the same seeds, paired over examples; None without a seed of both."""
    loss_low: float | None = None
    loss_high: float | None = None
    seed_losses: dict[str, float] = field(default_factory=dict)
    """Seed -> `loss` of that seed alone, for the seeds that both have; empty in lines of earlier releases."""
    lacking: list[int] = field(default_factory=list)
    """Seeds that one of the two has no predictions of, as its training failed: `loss` is without them."""
    query_only: float | None = None
    """Accuracy on the query alone; None for a task without one."""
    gain: float | None = None
    """What the text adds to the query: accuracy less `query_only`, paired over examples."""
    gain_low: float | None = None
    gain_high: float | None = None

    @property
    def model(self) -> str:
        # A person's own model may have a name of one part.
        return f"{self.encoder}-{self.attention}" if self.attention else self.encoder


@dataclass(frozen=True)
class _Group:
    """One architecture and training on one task: the records of its seeds, and those that have predictions."""

    asked: Sequence[ModelRecord]
    by_seed: Mapping[int, ModelRecord]


def check_models(models: Iterable[ModelRecord], predictions: pd.DataFrame) -> list[ModelCheck]:
    """One check per task, data, architecture and training, in the order of their names.

    `predictions` is long: model_key, example, right (1.0 or 0.0), right_query_only (NaN without a query). A model
    without predictions (its training failed) takes no part, and its seed none in a comparison.
    """
    by_model = {str(key): lines.set_index("example") for key, lines in predictions.groupby("model_key")}
    records: dict[tuple[str, str, str, str, str], list[ModelRecord]] = defaultdict(list)
    for model in sorted(models, key=lambda model: model.seed):
        encoder, _, attention = model.model.partition("-")
        records[model.task, model.fingerprint, encoder, model.training, attention].append(model)
    groups = {
        place: _Group(asked, {model.seed: model for model in asked if model.key in by_model})
        for place, asked in sorted(records.items())
    }
    found = []
    for place, group in groups.items():
        if not group.by_seed:
            continue
        learned = None
        if place[-1] in CONTROLS:
            others = [groups.get((*place[:-1], other)) for other in ("additive", "dot")]
            learned = next((other for other in others if other is not None and other.by_seed), None)
        found.append(_check(group, learned, by_model))
    return found


def _check(group: _Group, learned: _Group | None, by_model: Mapping[str, pd.DataFrame]) -> ModelCheck:
    members = list(group.by_seed.values())
    first = members[0]
    encoder, _, attention = first.model.partition("-")
    order = by_model[first.key].index
    right = _columns(members, by_model, "right", order)
    mean, low, high = _interval(right.mean(0))
    partial: _Estimate = (None, None, None)
    query = _columns(members, by_model, "right_query_only", order)
    if not np.isnan(query).any():
        partial = _interval((right - query).mean(0))
    of_seed = right.mean(1)
    return ModelCheck(
        task=first.task,
        fingerprint=first.fingerprint,
        encoder=encoder,
        attention=attention,
        training=first.training,
        seeds=list(group.by_seed),
        n=right.shape[1],
        accuracy=resampling.rounded(mean),
        low=resampling.rounded(low),
        high=resampling.rounded(high),
        seed_spread=resampling.rounded(np.std(of_seed, ddof=1)) if len(of_seed) > 1 else None,
        query_only=None if partial[0] is None else resampling.rounded(query.mean()),
        gain=resampling.rounded_or_none(partial[0]),
        gain_low=resampling.rounded_or_none(partial[1]),
        gain_high=resampling.rounded_or_none(partial[2]),
        **({} if learned is None else _against(group, learned, by_model, order)),
    )


def _against(control: _Group, learned: _Group, by_model: Mapping[str, pd.DataFrame], order: pd.Index) -> dict[str, Any]:
    """What a check says of a control beside learned attention, on the seeds that both have."""
    common = [seed for seed in control.by_seed if seed in learned.by_seed]
    asked = {model.seed for model in (*control.asked, *learned.asked)}
    found = {"against": learned.asked[0].model, "lacking": sorted(asked - set(common))}
    if not common:
        return found
    ours, theirs = (
        _columns([group.by_seed[seed] for seed in common], by_model, "right", order) for group in (control, learned)
    )
    loss, low, high = map(resampling.rounded, _interval((theirs - ours).mean(0)))
    of_seed = (theirs - ours).mean(1)
    return found | {
        "against_accuracy": resampling.rounded(theirs.mean()),
        "loss": loss,
        "loss_low": low,
        "loss_high": high,
        "seed_losses": {str(seed): resampling.rounded(one) for seed, one in zip(common, of_seed, strict=True)},
    }


def _columns(
    members: Sequence[ModelRecord], by_model: Mapping[str, pd.DataFrame], column: str, order: pd.Index
) -> Float[ndarray, "seed example"]:
    """One row per model, the examples in the given order."""
    return np.array([by_model[model.key][column].reindex(order).to_numpy(dtype=float) for model in members])


def _interval(values: Float[ndarray, "example"]) -> tuple[float, float, float]:
    low, high = resampling.interval(resampling.bootstrap_mean_of_few(values))
    return float(values.mean()), float(low[0]), float(high[0])
