"""Methods with methods over the words of texts, and metrics with metrics over methods. Pure.

The second ranks the metrics: how well each agrees with known truth where some tokens were planted, with itself under
another way to take words away, and with the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from faithboard.records import Row
from faithboard.stats import resampling
from faithboard.stats.agreed import MethodAgreement, MetricAgreement
from faithboard.stats.board import Comparison, Table
from faithboard.stats.entries import Entry
from faithboard.stats.magnitudes import ReadScores, between_draws, by_example

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy import ndarray

TRUTH = "precision@k"
"""The metric that is known truth on a planted task whose model is verified to use what was planted."""
LEAST_METHODS = 3
"""Fewer have no ranking to speak of: of two methods tau can only be 1 or -1."""
RESAMPLES = 1_000
_DECIMALS = 12
"""Values that agree to so many are tied: means over seeds differ in the last bits."""


@dataclass(frozen=True)
class Ranking:
    """What one metric says of the methods of a table."""

    info: Row
    values: pd.DataFrame
    """Examples x methods: mean over seeds (and draws). Explanation methods that are ranked, no reference rows."""

    @property
    def sign(self) -> int:
        return 1 if self.info.better == "higher" else -1


def method_agreements(table: Table, entries: Sequence[Entry], scores: ReadScores) -> list[MethodAgreement]:
    """Every pair of methods of a table, in each seed on the same weights; reference rows among them."""
    entries = [entry for entry in entries if any(entry.scored(seed) for seed in table.seeds)]
    places = list(combinations(range(len(entries)), 2))
    by_seed = {seed: taus for seed in table.seeds if (taus := _seed_taus(entries, seed, scores))}
    if not places or not by_seed:
        return []
    names = sorted(set().union(*by_seed.values()))
    first, second = np.transpose(places)
    nothing = np.full((len(entries), len(entries)), np.nan)
    each = np.stack([[taus.get(name, nothing)[first, second] for name in names] for taus in by_seed.values()])
    there = np.array([[bool(entry.scored(seed)) for entry in entries] for seed in by_seed])
    there = there[:, first] & there[:, second]
    gaps = (np.isnan(each) & there[:, None]).sum((0, 1))
    missing = gaps / np.maximum(there.sum(0) * len(names), 1)
    means = resampling.mean_defined(each, 0)
    low, high = resampling.interval(resampling.bootstrap_means(means, RESAMPLES))
    values = resampling.mean_defined(means, 0)
    return [
        MethodAgreement(
            table=table.key,
            task=table.task,
            model=table.model,
            training=table.training,
            a=entries[a].method,
            b=entries[b].method,
            n=int(np.isfinite(means[:, at]).sum()),
            tau=resampling.rounded_or_none(values[at]),
            low=resampling.rounded_or_none(low[at]),
            high=resampling.rounded_or_none(high[at]),
            undefined_share=resampling.rounded(missing[at]),
        )
        for at, (a, b) in enumerate(places)
    ]


def _seed_taus(entries: Sequence[Entry], seed: int, scores: ReadScores) -> dict[str, Float[ndarray, "method method"]]:
    """Example of two words or more -> tau of every two methods; NaN for one that has no scores in the seed."""
    present = [(at, key) for at, entry in enumerate(entries) if (key := entry.scored(seed))]
    own = [by_example(scores(key)) for _, key in present]
    shared = set.intersection(*map(set, own)) if own else set()
    places = np.ix_(*[[at for at, _ in present]] * 2)
    found = {}
    for name in sorted(shared):
        blocks = [one[name] for one in own]
        if blocks[0].shape[1] >= 2:
            found[name] = np.full((len(entries), len(entries)), np.nan)
            found[name][places] = between_draws(blocks)
    return found


def metric_agreements(
    table: Table, rankings: Iterable[Ranking], comparisons: Iterable[Comparison]
) -> list[MetricAgreement]:
    """Every pair of metrics that rank at least one method; a pair with known truth has it as `b`. Medians rank none."""
    means = [one for one in rankings if one.info.statistic == "mean"]
    ordered = [one for one in means if one.info.better != "neither" and one.values.shape[1]]
    # Known truth last, so that it stands as b; the others in their order.
    ordered.sort(key=lambda one: one.info.metric == TRUTH)
    examples = pd.Index(sorted(set().union(*(one.values.index for one in ordered))))
    methods = sorted(set().union(*(one.values.columns for one in ordered)))
    signs = [_signs(one, examples, methods) for one in ordered]
    better: dict[str, dict[tuple[str, str], str]] = {}
    for pair in comparisons:
        better.setdefault(pair.metric, {})[min(pair.a, pair.b), max(pair.a, pair.b)] = pair.better
    return [
        _agreement(table, (ordered[a], ordered[b]), (signs[a], signs[b]), better)
        for a, b in combinations(range(len(ordered)), 2)
    ]


def _signs(ranking: Ranking, examples: pd.Index[str], methods: Sequence[str]) -> Float[ndarray, "resample pair"]:
    """Which of two methods is better, for every two of `methods`: 1, -1, or 0 for a tie; NaN where one is not ranked.

    Row 0 is of the examples themselves, the others of resamples of the examples of all metrics, shared by them.
    """
    values = ranking.values.reindex(index=examples, columns=pd.Index(methods))
    resampled = resampling.bootstrap_means(values.to_numpy(), RESAMPLES)
    rows = np.vstack([values.mean().to_numpy(), resampled]).round(_DECIMALS) * ranking.sign
    first, second = np.triu_indices(len(methods), 1)
    signs: Float[ndarray, "resample pair"] = np.sign(rows[:, first] - rows[:, second]).astype(np.float32)
    return signs


def _agreement(
    table: Table,
    rankings: tuple[Ranking, Ranking],
    signs: tuple[Float[ndarray, "resample pair"], Float[ndarray, "resample pair"]],
    better: Mapping[str, Mapping[tuple[str, str], str]],
) -> MetricAgreement:
    a, b = rankings
    methods = [method for method in a.values.columns if method in b.values.columns]
    names = a.info.metric, b.info.metric
    pairs = [(min(pair), max(pair)) for pair in combinations(methods, 2)]
    winners = [[better.get(name, {}).get(pair, "") for pair in pairs] for name in names]
    both = [(x, y) for x, y in zip(*winners, strict=True) if x and y]
    taus = _taus(*signs)
    reason = "" if np.isfinite(taus[0]) else "all methods are tied in one of them"
    if len(methods) < LEAST_METHODS:
        reason = f"fewer than {LEAST_METHODS} methods are ranked by both"
    low, high = (None, None) if reason else resampling.interval(taus[1:])
    relation = _relation(table, a.info, b.info)
    given = _taus(*signs, given_second=True) if relation == "truth" and not reason else None
    somers_low, somers_high = (None, None) if given is None else resampling.interval(given[1:])
    return MetricAgreement(
        table=table.key,
        task=table.task,
        model=table.model,
        training=table.training,
        a=names[0],
        b=names[1],
        relation=relation,
        methods=len(methods),
        tau=None if reason else resampling.rounded(taus[0]),
        low=resampling.rounded_or_none(low),
        high=resampling.rounded_or_none(high),
        somers_d=None if given is None else resampling.rounded(given[0]),
        somers_low=resampling.rounded_or_none(somers_low),
        somers_high=resampling.rounded_or_none(somers_high),
        decided=len(both),
        reversed=sum(x != y for x, y in both),
        undefined_share=0.0 if reason else resampling.rounded(np.isnan(taus[1:]).mean()),
        reason=reason,
    )


def _taus(
    a: Float[ndarray, "resample pair"], b: Float[ndarray, "resample pair"], *, given_second: bool = False
) -> Float[ndarray, "resample"]:
    """tau-b of each row over the pairs of methods that both rank; NaN where all of a row are tied in one of them.

    With `given_second` Somers' D of a given b instead: only pairs that b does not tie count.
    """
    # A method that is ranked has a value on the examples themselves; one without any in a resample makes it NaN.
    shared = np.isfinite(a[0]) & np.isfinite(b[0])
    a, b = a[:, shared], b[:, shared]
    untied_a, untied_b = (a * a).sum(1, dtype=np.float64), (b * b).sum(1, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        taus: Float[ndarray, "resample"] = (a * b).sum(1) / (untied_b if given_second else np.sqrt(untied_a * untied_b))
    return taus


def _relation(table: Table, a: Row, b: Row) -> Literal["truth", "operator", "metric"]:
    if b.metric == TRUTH and a.kind != "rationale" and table.has_known_truth:
        return "truth"
    (first, one), (second, other) = base_and_operator(a), base_and_operator(b)
    return "operator" if first == second and one != other else "metric"


def base_and_operator(row: Row) -> tuple[str, str]:
    """`comprehensiveness-unk` under the operator `unk` is (`comprehensiveness`, `unk`); without one it is `delete`."""
    operator = str(row.parameters.get("operator", "delete"))
    return row.metric.removesuffix(f"-{operator}"), operator
