"""The command that makes published experiments again: reproduce."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithboard.cli import options
from faithboard.errors import SuiteError
from faithboard.reproduction import REPRODUCTIONS

if TYPE_CHECKING:
    from faithboard.reproduction import Reproduction

FAILED = 1
"""Exit code when part of the work failed; 2 is for input that makes no sense."""


def reproduce(
    name: Annotated[str, typer.Argument(help=f"What is made again: {', '.join(REPRODUCTIONS)}.")],
    tasks: options.Tasks = "",
    models: options.Models = "",
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
) -> None:
    """Run the experiments of a paper, unless they are stored, and show our numbers beside the published ones.

    `elephant` runs nothing: its page is made of the leaderboards that are there.
    """
    from faithboard import suites
    from faithboard.cli.planned import summary
    from faithboard.cli.progress import TerminalProgress
    from faithboard.reproduction import reproduction
    from faithboard.running import run as carry_out
    from faithboard.session import Place, chosen_device, chosen_origin, plan_suite
    from faithboard.store import Store

    progress = TerminalProgress()
    wanted = reproduction(name)
    if wanted.suite is None:
        _from_boards(wanted, name, leaderboards, asked=[tasks, models, seeds, examples, settings])
        return
    own = suites.load(wanted.suite)
    chosen = suites.changed(
        own,
        tasks=options.separated(tasks),
        models=options.separated(models),
        seeds=options.whole_numbers(seeds),
        examples=examples,
        settings=options.settings(settings),
    )
    place = Place(Store(results), chosen_device(device, threads), data, chosen_origin(origin))
    plan = plan_suite(chosen, place, progress, retry_failed=retry_failed, skip_missing=not tasks)
    progress.say(summary(plan))
    outcome = carry_out(plan, place.store, place.device, progress)
    # Another number of examples or seeds is another experiment: it gets a page of its own.
    page_name = name if chosen.name == own.name else f"{name}-{chosen.name}"
    shown = wanted.report(plan, place.store, place.device, leaderboards, page_name, restrict=bool(tasks))
    typer.echo(shown.text)
    typer.echo("")
    for note in shown.notes:
        progress.say(f"note: {note}")
    typer.echo(f"page:    {shown.page}")
    typer.echo(f"results: {place.store.root}")
    for failure in outcome.failures:
        typer.echo(f"failed: {failure}", err=True)
    if outcome.failures:
        raise typer.Exit(FAILED)


def _from_boards(wanted: Reproduction, name: str, leaderboards: Path, asked: Sequence[object]) -> None:
    """Write and show a page that is made of leaderboards; what would choose a run is refused."""
    if any(asked):
        raise SuiteError(
            f"{name} runs nothing: it is made of the leaderboards that are there, so --tasks, --models, --seeds, "
            "--examples and --set choose nothing; run the suite with them and reproduce it again"
        )
    shown = wanted.report_boards(leaderboards, name)
    typer.echo(shown.text)
    typer.echo("")
    typer.echo(f"page:    {shown.page}")
