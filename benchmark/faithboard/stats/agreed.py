"""What comes out of comparing methods with methods and metrics with metrics: plain records, one JSON line each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from faithboard.records import _Json


@dataclass(frozen=True)
class MethodAgreement(_Json):
    """How alike two methods order the words of a text, by the magnitude of their scores."""

    table: str
    task: str
    model: str
    training: str
    a: str
    b: str
    n: int
    """Examples with a defined tau in some seed."""
    tau: float | None
    """Mean over examples of the mean over seeds (and pairs of draws) of Kendall's tau-b between |scores|."""
    low: float | None
    high: float | None
    """95 % bootstrap interval over examples, conditional on the trained models."""
    undefined_share: float
    """Share of (example, seed) of two words or more where one of the two gives all words the same."""


@dataclass(frozen=True)
class MetricAgreement(_Json):
    """How alike two metrics rank the explanation methods of a table, from the best to the worst."""

    table: str
    task: str
    model: str
    training: str
    a: str
    b: str
    relation: Literal["truth", "operator", "metric"]
    """`truth`: b says how well known truth is found; `operator`: one metric under two operators."""
    methods: int
    """Methods that both rank; reference rows are left out."""
    tau: float | None
    """Kendall's tau-b over methods between the values, each turned so that better is higher; 1 for one ranking."""
    low: float | None = None
    high: float | None = None
    """95 % bootstrap interval over examples, both metrics on the same resamples; None where tau is undefined."""
    somers_d: float | None = None
    """Of `truth` alone: Somers' D of a given b, tau over the pairs of methods that b does not tie. Truth finds many
    methods equally right, and no tau-b of a metric without ties reaches 1 then (Somers 1962)."""
    somers_low: float | None = None
    somers_high: float | None = None
    """Its interval, as that of tau."""
    decided: int = 0
    """Pairs of methods that the paired tests tell apart in both metrics."""
    reversed: int = 0
    """Those of them that stand in opposite order."""
    undefined_share: float = 0.0
    """Share of resamples in which all methods are tied in one of the two: they take no part in the interval."""
    reason: str = ""
    """Why there is no tau; empty when there is."""


@dataclass(frozen=True)
class SanityCheck(_Json):
    """Does an explanation change with the model? One check of one method of one table (Adebayo et al. 2018)."""

    table: str
    task: str
    model: str
    training: str
    method: str
    check: Literal["parameter-randomisation", "label-randomisation"]
    n: int
    """Examples with a defined tau."""
    undefined_share: float = 0.0
    """Share of (example, pair of models) without one: constant scores on one of the models."""
    tau: float | None = None
    """Mean tau between |scores| on the trained model and on one that cannot know the task, mean over seeds."""
    low: float | None = None
    high: float | None = None
    """95 % bootstrap interval over examples, as of all that follows."""
    seeds_tau: float | None = None
    """The same between models trained with different seeds, mean over pairs of seeds: how alike it can be at best."""
    seeds_low: float | None = None
    seeds_high: float | None = None
    seeds_undefined_share: float = 0.0
    margin: float | None = None
    """Half of `seeds_tau` less `tau`: above 0 the check is passed."""
    margin_low: float | None = None
    margin_high: float | None = None
    passed: bool | None = None
    """None where it cannot be said."""
    reason: str = ""
    """Why it cannot be said; empty when it can."""
    points: list[str] = field(default_factory=list)
    """Layers re-initialised up to and with this one, from the output down."""
    curve: list[float] = field(default_factory=list)
    """Mean tau at each point."""
    curve_low: list[float] = field(default_factory=list)
    """95 % interval of each point, mean over seeds."""
    curve_high: list[float] = field(default_factory=list)
