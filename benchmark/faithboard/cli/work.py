"""Commands that compute: run, train, plan, prepare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithboard.cli import options
from faithboard.errors import DataError, TrackingError

if TYPE_CHECKING:
    from faithboard.plan import Plan
    from faithboard.session import Place

FAILED = 1
"""Exit code when part of the work failed; 2 is for input that makes no sense."""


def run(
    suite: options.SuiteName = "standard",
    tasks: options.Tasks = "",
    models: options.Models = "",
    methods: options.Methods = "",
    metrics: options.Metrics = "",
    seeds: options.Seeds = "",
    examples: options.Examples = None,
    settings: options.Settings = [],  # noqa: B006  typer copies it
    data: options.Data = None,
    origin: options.Origin = "auto",
    results: options.Results = Path("results"),
    leaderboards: options.Leaderboards = Path("leaderboards"),
    device: options.Device = "auto",
    threads: options.Threads = 1,
    retry_failed: Annotated[bool, typer.Option(help="Run again what failed before.")] = False,
    over_budget: Annotated[bool, typer.Option(help="Run explanations that cost more than the suite's budget.")] = False,
    track: Annotated[bool, typer.Option(help="Sync the results into MLflow.")] = True,
    tracking_uri: options.TrackingUri = "",
) -> None:
    """Train, explain, score and rank; what is stored is not computed again."""
    from faithboard.cli.planned import summary
    from faithboard.cli.progress import TerminalProgress
    from faithboard.cli.publishing import mirror, publish
    from faithboard.running import run as carry_out

    progress = TerminalProgress()
    place = _place(results, data, origin, device, threads)
    plan = _plan(suite, tasks, models, methods, metrics, seeds, examples, settings, place, retry_failed, over_budget)
    progress.say(summary(plan))
    for note in plan.inapplicable:
        progress.say(f"note: {note}")
    outcome = carry_out(plan, place.store, place.device, progress)
    progress.say(
        f"trained {_some(outcome.trained, 'model')}, computed {_some(outcome.explained, 'explanation')}, "
        f"scored {_some(outcome.scored, 'row')}, timed {outcome.timed}; "
        f"{_some(outcome.stored, 'explanation')} {'was' if outcome.stored == 1 else 'were'} stored before"
    )
    if outcome.masks.asked:
        share = outcome.masks.evaluated / outcome.masks.asked
        progress.say(f"metrics asked for {outcome.masks.asked:,} masked texts; {share:.0%} were distinct and evaluated")
    name = f"{plan.suite.name}-v{plan.suite.version}"
    failures = list(outcome.failures)
    published = publish(place.store, name, leaderboards)
    if track:
        try:
            typer.echo(mirror(place.store, [published], tracking_uri))
        except TrackingError as error:
            failures.append(f"MLflow: {error}")
    for failure in failures:
        typer.echo(f"failed: {failure}", err=True)
    if failures:
        raise typer.Exit(FAILED)


def train(
    suite: options.SuiteName = "standard",
    tasks: options.Tasks = "",
    models: options.Models = "",
    trainings: Annotated[str, typer.Option(help="Trainings instead of the suite's: names, or file.py:attribute.")] = "",
    seeds: options.Seeds = "",
    settings: options.Settings = [],  # noqa: B006  typer copies it
    data: options.Data = None,
    origin: options.Origin = "auto",
    results: options.Results = Path("results"),
    leaderboards: options.Leaderboards = Path("leaderboards"),
    device: options.Device = "auto",
    threads: options.Threads = 1,
    retry_failed: Annotated[bool, typer.Option(help="Train again what failed before.")] = False,
    measure_cost: Annotated[
        bool, typer.Option("--measure-cost", help="Measure an epoch of each training beside one of standard training.")
    ] = False,
) -> None:
    """Train the models of a suite and show how good they are, and whether attention and the text matter."""
    from faithboard import suites
    from faithboard.cli.planned import summary
    from faithboard.cli.progress import TerminalProgress
    from faithboard.cli.publishing import publish
    from faithboard.running import run as carry_out
    from faithboard.running.training_costs import measure_training_costs
    from faithboard.session import plan_suite

    progress = TerminalProgress()
    place = _place(results, data, origin, device, threads)
    chosen = suites.models_only(
        suites.changed(
            suites.load(suite),
            tasks=options.separated(tasks),
            models=options.separated(models),
            trainings=options.separated(trainings),
            seeds=options.whole_numbers(seeds),
            settings=options.settings(settings),
        )
    )
    made = plan_suite(chosen, place, progress, retry_failed=retry_failed, skip_missing=not tasks)
    progress.say(summary(made))
    failures = carry_out(made, place.store, place.device, progress).failures
    if measure_cost:
        failures += measure_training_costs(made, place.store, place.device, progress)
    publish(place.store, f"{chosen.name}-v{chosen.version}", leaderboards)
    for failure in failures:
        typer.echo(f"failed: {failure}", err=True)
    if failures:
        raise typer.Exit(FAILED)


def plan(
    suite: options.SuiteName = "standard",
    tasks: options.Tasks = "",
    models: options.Models = "",
    methods: options.Methods = "",
    metrics: options.Metrics = "",
    seeds: options.Seeds = "",
    examples: options.Examples = None,
    settings: options.Settings = [],  # noqa: B006  typer copies it
    data: options.Data = None,
    origin: options.Origin = "auto",
    results: options.Results = Path("results"),
    device: options.Device = "auto",
    threads: options.Threads = 1,
    retry_failed: Annotated[bool, typer.Option(help="Plan again what failed before.")] = False,
    over_budget: Annotated[bool, typer.Option(help="Plan explanations over the suite's budget.")] = False,
) -> None:
    """Show what `run` would do with the same options, and what each part costs."""
    from faithboard.cli.planned import table

    place = _place(results, data, origin, device, threads)
    made = _plan(suite, tasks, models, methods, metrics, seeds, examples, settings, place, retry_failed, over_budget)
    typer.echo(table(made))


def prepare(
    tasks: Annotated[list[str] | None, typer.Argument(help="Tasks; without any, all whose data is here.")] = None,
    data: options.Data = None,
    origin: options.Origin = "auto",
    results: options.Results = Path("results"),
) -> None:
    """Load, verify, tokenise and cache the data of tasks, and show it beside the published numbers."""
    import time

    from faithboard.cli.preparing import described
    from faithboard.data import load
    from faithboard.resolve import builtin, resolve
    from faithboard.session import is_here

    place = _place(results, data, origin, "cpu", 1)
    failures = []
    for name in tasks or builtin("task"):
        task = resolve("task", name).value
        if not tasks and not is_here(task, place):
            typer.echo(f"{name}: not here ({task.source.access}: {task.source.url})\n")
            continue
        started = time.perf_counter()
        try:
            loaded = load(task, cache=place.store.root, root=place.data, origin=place.origin)
        except DataError as error:
            failures.append(str(error))
            continue
        typer.echo(described(loaded, time.perf_counter() - started) + "\n")
    for failure in failures:
        typer.echo(f"error: {failure}", err=True)
    if failures:
        raise typer.Exit(2)


def _some(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _place(results: Path, data: Path | None, origin: str, device: str, threads: int) -> Place:
    from faithboard.session import Place, chosen_device, chosen_origin
    from faithboard.store import Store

    return Place(Store(results), chosen_device(device, threads), data, chosen_origin(origin))


def _plan(
    suite: str,
    tasks: str,
    models: str,
    methods: str,
    metrics: str,
    seeds: str,
    examples: int | None,
    settings: list[str],
    place: Place,
    retry_failed: bool,
    over_budget: bool,
) -> Plan:
    from faithboard import suites
    from faithboard.cli.progress import TerminalProgress
    from faithboard.session import plan_suite

    chosen = suites.changed(
        suites.load(suite),
        tasks=options.separated(tasks),
        models=options.separated(models),
        methods=options.separated(methods),
        metrics=options.separated(metrics),
        seeds=options.whole_numbers(seeds),
        examples=examples,
        settings=options.settings(settings),
    )
    return plan_suite(
        chosen,
        place,
        TerminalProgress(),
        retry_failed=retry_failed,
        over_budget=over_budget,
        skip_missing=not tasks,
    )
