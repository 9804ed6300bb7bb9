"""Two methods against each other on the same examples and equal weights (definitions, section 6). Pure.

A leaderboard adjusts its p values over all pairs of a table; here there is one pair, and its p stands as it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from faithboard.records import Explanation, ModelRecord, Row, _Json
from faithboard.stats import resampling
from faithboard.stats.aligned import align
from faithboard.stats.board import Comparison, Table
from faithboard.stats.comparisons import compare
from faithboard.stats.entries import BASELINE, Entry
from faithboard.stats.tables import table_of
from faithboard.stats.versions import shown

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Duel(_Json):
    """Method a against method b in one metric on one trained model, over the seeds that both explain."""

    suite: str
    comparison: Comparison
    direction: Literal["higher", "lower"]
    """Which end of the metric is better."""
    seeds: list[int]
    value_a: float
    value_b: float
    """Means over the examples of the comparison."""
    left_out: int
    """Examples that one of the two has no value for, and no random baseline stands in."""
    reservation: str
    """Why a leaderboard would not rank one of the two, such as a failed accuracy gate; empty when it would."""


@dataclass(frozen=True)
class Duels:
    """Every duel that could be fought, and why the others could not, one sentence each."""

    fought: tuple[Duel, ...]
    refused: tuple[str, ...]


def duels(
    suite: str,
    version: int,
    models: Iterable[ModelRecord],
    explanations: Iterable[Explanation],
    values: Mapping[tuple[str, str], pd.Series[float]],
    a: str,
    b: str,
) -> Duels:
    """Methods `a` and `b` in every metric that both have, on every trained model that both explain.

    `values` is (explanation key, metric) -> value by example. Explanations of other methods than these two are not
    looked at, but for the random baseline, whose value stands in for an undefined one as it does in a leaderboard.
    """
    of_model: dict[str, list[Explanation]] = defaultdict(list)
    for explanation in explanations:
        of_model[explanation.model_key].append(explanation)
    groups: dict[tuple[str, int, str, str, str], list[ModelRecord]] = defaultdict(list)
    for model in sorted(models, key=lambda model: model.seed):
        groups[model.task, model.task_version, model.fingerprint, model.model, model.training].append(model)
    fought: list[Duel] = []
    refused: list[str] = []
    for _, members in sorted(groups.items()):
        own = [explanation for model in members for explanation in of_model[model.key]]
        by_seed = {name: {e.seed: e for e in own if e.method == name} for name in (a, b, BASELINE)}
        if not by_seed[a] or not by_seed[b]:
            continue
        where = f"{members[0].task}, {members[0].model}, {members[0].training}"
        seeds, reasons = _common(by_seed[a], by_seed[b])
        refused += [f"{where}: {reason}" for reason in reasons]
        if not seeds:
            continue
        table = table_of(suite, version, seeds, [model for model in members if model.seed in seeds], own)
        weights = {model.seed: model.weights_sha256 for model in members}
        entries = [Entry(name, _only(by_seed[name], seeds), weights, ()) for name in _names(a, b, by_seed, seeds)]
        for info in _metrics(entries[:2]):
            duel = _duel(f"{suite}-v{version}", table, info, entries, values)
            if isinstance(duel, Duel):
                fought.append(duel)
            else:
                refused.append(f"{where}, {info.metric}: {duel}")
    return Duels(tuple(fought), tuple(refused))


def _common(a: Mapping[int, Explanation], b: Mapping[int, Explanation]) -> tuple[list[int], list[str]]:
    """Seeds in which both are explained on equal weights, and what is wrong with the others."""
    seeds, reasons = [], []
    for seed in sorted(set(a) | set(b)):
        if seed not in a or seed not in b:
            reasons.append(f"{(a.get(seed) or b[seed]).method} alone has results of seed {seed}")
            continue
        failed = [f"{e.method} {e.status} (seed {seed}): {e.reason}" for e in (a[seed], b[seed]) if e.status != "ok"]
        if not failed and a[seed].weights_sha256 != b[seed].weights_sha256:
            failed = [f"the two were explained on different weights (seed {seed}); run both again"]
        reasons += failed
        if not failed:
            seeds.append(seed)
    return seeds, reasons


def _only(by_seed: Mapping[int, Explanation], seeds: Sequence[int]) -> dict[int, Explanation]:
    return {seed: by_seed[seed] for seed in seeds if seed in by_seed}


def _names(a: str, b: str, by_seed: Mapping[str, Mapping[int, Explanation]], seeds: Sequence[int]) -> list[str]:
    """The two, and the random baseline where it can stand in."""
    stands_in = BASELINE not in (a, b) and set(seeds) <= set(by_seed[BASELINE])
    return [a, b, *([BASELINE] if stands_in else [])]


def _metrics(pair: Sequence[Entry]) -> list[Row]:
    """The row that stands for each metric that both have and that has a better end."""
    both = sorted(set(pair[0].metrics) & set(pair[1].metrics))
    infos = [shown(row for entry in pair for row in entry.rows(metric).values()) for metric in both]
    return [info for info in infos if info.better != "neither"]


def _duel(
    suite: str,
    table: Table,
    info: Row,
    entries: Sequence[Entry],
    values: Mapping[tuple[str, str], pd.Series[float]],
) -> Duel | str:
    """The comparison in one metric, or why there is none."""
    aligned = align(table, info, entries, values)
    pair = aligned.values[:, :2]
    whole = np.isfinite(pair).all((1, 2))
    if not whole.any():
        reasons = [f"{e.method}: {reason}" for e, reason in zip(entries, aligned.reasons[:2], strict=False) if reason]
        return "; ".join(reasons) or "the two have no example in common"
    kept = pair[whole]
    means = kept.mean(2)
    direction: Literal["higher", "lower"] = "higher" if info.better == "higher" else "lower"
    methods = [entry.method for entry in entries[:2]]
    (comparison,) = compare(table, info.metric, direction, methods, kept, resampling.bootstrap_means(means))
    held = [f"{name}: {reason}" for name, reason in zip(methods, aligned.reasons[:2], strict=True) if reason]
    return Duel(
        suite=suite,
        comparison=comparison,
        direction=direction,
        seeds=list(table.seeds),
        value_a=resampling.rounded(means[:, 0].mean()),
        value_b=resampling.rounded(means[:, 1].mean()),
        left_out=int((~whole).sum()),
        reservation=table.reason or "; ".join(held),
    )
