"""The commands as functions that return DataFrames: `faithboard.explain`, `evaluate`, `compare`.

They read and write the same results folder as the command line, and refuse the same things with the same errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from faithboard import resolve, suites
from faithboard.comparing import compared
from faithboard.errors import ContractError
from faithboard.results import board_of, results_of
from faithboard.running import run
from faithboard.running.progress import Progress
from faithboard.session import Place, chosen_device, chosen_origin, plan_suite
from faithboard.store import Store
from faithboard.texts import ExplainedText, ask

Several = str | Sequence[str]
"""One reference, or a list of them."""

EXPLAINED = (
    "example",
    "method",
    "position",
    "token",
    "part",
    "known",
    "rationale",
    "score",
    "prediction",
    "probability",
)
"""Columns of `explain`."""
EVALUATED = (
    "task",
    "model",
    "training",
    "method",
    "metric",
    "better",
    "value",
    "low",
    "high",
    "rank",
    "rank_high",
    "n",
)
"""First columns of `evaluate`; `undefined_share`, `excluded`, `status` and `reason` follow."""


def explain(
    texts: Several = (),
    *,
    task: str,
    methods: Several,
    query: str | Sequence[str] = (),
    examples: Several = (),
    model: str = "",
    training: str = "standard",
    seed: int | None = None,
    results: str | Path = "results",
    data: str | Path | None = None,
    origin: str = "auto",
    device: str = "auto",
    threads: int = 1,
) -> pd.DataFrame:
    """Scores of every word by every method, on a stored model of the task; nothing is trained.

    `texts` are strings, tokenised by the rules of the task; `examples` are ids of test examples. One row per text,
    method and scored word, in this order, with the columns `EXPLAINED`: `position` counts the scored words from 0,
    `score` is evidence for the class `prediction`, which has the probability `probability`. A stochastic method has
    the mean over its draws.

    Raises SuiteError where no model is stored (with the command that trains it), ContractError for a method that fails
    or does not apply to the model, and DataError or ResolveError as the command does.
    """
    place = _place(results, data, origin, device, threads, writable=False)
    answer = ask(
        place,
        task,
        _listed(methods),
        texts=_listed(texts),
        query=query,
        examples=_listed(examples),
        model=model,
        training=training,
        seed=seed,
    )
    rows = [row for text in answer.texts for row in _word_rows(text)]
    return pd.DataFrame(rows, columns=list(EXPLAINED))


def evaluate(
    methods: Several = (),
    *,
    suite: str = "quick",
    tasks: Several = (),
    models: Several = (),
    metrics: Several = (),
    seeds: Sequence[int] = (),
    examples: int | None = None,
    settings: Mapping[str, Any] | None = None,
    results: str | Path = "results",
    data: str | Path | None = None,
    origin: str = "auto",
    device: str = "auto",
    threads: int = 1,
    retry_failed: bool = False,
    over_budget: bool = False,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Train, explain, score and rank as `faithboard run` does; what is stored is not computed again.

    Whatever is not given is the suite's. One row per task, model, training, method and metric that was asked for, with
    the columns `EVALUATED` and what follows them: `low` and `high` bound the 95 % interval, `rank` counts 1 + the
    methods that are significantly better among all of the suite's results, and is missing, with the `reason`, for a
    row that is not ranked. A method that fails has `status` failed in its own rows. MLflow and leaderboards are left
    alone.

    Raises the FaithboardError of whatever makes no sense, before anything is trained.
    """
    place = _place(results, data, origin, device, threads, writable=True)
    chosen = suites.changed(
        suites.load(suite),
        tasks=_listed(tasks),
        models=_listed(models),
        methods=_listed(methods),
        metrics=_listed(metrics),
        seeds=list(seeds),
        examples=examples,
        settings=settings,
    )
    shown = progress or Progress()
    plan = plan_suite(
        chosen, place, shown, retry_failed=retry_failed, over_budget=over_budget, skip_missing=not _listed(tasks)
    )
    run(plan, place.store, place.device, shown)
    board = board_of(results_of(place.store, f"{chosen.name}-v{chosen.version}"))
    asked_methods = {one.name for one in resolve.resolve_all("method", chosen.methods)}
    places = {(job.prepared.task.name, job.model.name) for job in plan.jobs}
    rows = [
        asdict(standing)
        for standing in board.standings
        if standing.method in asked_methods and (standing.task, standing.model) in places
    ]
    columns = [*EVALUATED, "undefined_share", "excluded", "status", "reason"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame[frame["metric"].isin(plan.metrics)].astype({"rank": "Int64", "rank_high": "Int64"})


def compare(
    a: str,
    b: str,
    *,
    task: str = "",
    suite: str = "",
    model: str = "",
    training: str = "",
    results: str | Path = "results",
) -> pd.DataFrame:
    """Method `a` against method `b` on the same examples and equal weights, from what is stored.

    One row per suite, trained model and metric: `difference` is the mean of a - b with its 95 % interval `low`, `high`,
    `p` that of the sign-flip test, `wins`, `ties` and `losses` count examples in the better direction, `better` names
    the method that is significantly better or is empty, `reason` says why a leaderboard would not rank one of the two.

    Raises SuiteError for what is not in the results, with near names, and when the two have nothing in common.
    """
    store = Store(Path(results), writable=False)
    found = compared(store, a, b, task=task, suite=suite, model=model, training=training)
    rows = [
        {
            "suite": duel.suite,
            "task": duel.comparison.task,
            "model": duel.comparison.model,
            "training": duel.comparison.training,
            "metric": duel.comparison.metric,
            "direction": duel.direction,
            "a": duel.comparison.a,
            "b": duel.comparison.b,
            "value_a": duel.value_a,
            "value_b": duel.value_b,
            "difference": duel.comparison.difference,
            "low": duel.comparison.low,
            "high": duel.comparison.high,
            "p": duel.comparison.p,
            "wins": duel.comparison.wins,
            "ties": duel.comparison.ties,
            "losses": duel.comparison.losses,
            "better": duel.comparison.better,
            "n": duel.comparison.n,
            "left_out": duel.left_out,
            "seeds": duel.seeds,
            "reason": duel.reservation,
        }
        for duel in found
    ]
    return pd.DataFrame(rows)


def _place(
    results: str | Path, data: str | Path | None, origin: str, device: str, threads: int, *, writable: bool
) -> Place:
    root = None if data is None else Path(data)
    store = Store(Path(results), writable=writable)
    return Place(store, chosen_device(device, threads), root, chosen_origin(origin))


def _listed(several: Several) -> list[str]:
    return [several] if isinstance(several, str) and several else list(several)


def _word_rows(text: ExplainedText) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    words = [word for word in text.words if word.scored]
    answer = (text.predicted, max(text.probabilities))
    for said in text.methods:
        if said.scores is None:
            raise ContractError(f"{said.method} does not explain {text.example}: {said.reason}")
        for position, (word, score) in enumerate(zip(words, said.scores, strict=True)):
            own = (position, word.text, word.part, word.known, word.rationale, score)
            rows.append((text.example, said.method, *own, *answer))
    return rows
