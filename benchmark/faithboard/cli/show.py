"""Commands that show what is there: list, report, forget, sync, ui."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from faithboard.cli import options
from faithboard.errors import SuiteError


def list_(
    what: Annotated[str, typer.Argument(help="tasks, methods, metrics, models, trainings or suites")],
    data: options.Data = None,
    results: options.Results = Path("results"),
) -> None:
    """Show what can be named in a suite or on the command line, and which models are trained."""
    from faithboard.cli.listing import listed

    typer.echo(listed(what, data, results))


def report(
    suite: Annotated[str, typer.Option(help="Only this suite, as in quick-v1; all that are stored by default.")] = "",
    results: options.Results = Path("results"),
    leaderboards: options.Leaderboards = Path("leaderboards"),
    readme: Annotated[
        Path | None, typer.Option(help="Also renew the table between the markers `leaders` of this file.")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep trained models on the pages that these results do not have.")
    ] = False,
) -> None:
    """Write leaderboards/*.md from what is stored."""
    from faithboard.cli.publishing import publish, renew_readme
    from faithboard.results import suites_in
    from faithboard.store import Store

    store = Store(results, writable=False)
    names = [suite] if suite else suites_in(store)
    if not names:
        raise SuiteError(f"{results} holds no results yet; `faithboard run` makes them")
    if readme is not None and not readme.is_file():
        raise SuiteError(f"there is no file {readme} to renew")
    for name in names:
        _, board = publish(store, name, leaderboards, keep=keep)
        if readme is not None:
            renew_readme(readme, board)


def forget(
    method: Annotated[str, typer.Argument(help="Name of the method.")],
    suite: Annotated[str, typer.Option(help="The suite it shall leave, as in quick-v1.")],
    results: options.Results = Path("results"),
) -> None:
    """Take a method off a suite's leaderboard; its scores stay stored."""
    from faithboard.store import Store

    Store(results).forget(suite, method)
    typer.echo(f"{suite} shows {method} no more; `faithboard report` writes the pages anew")


def sync(
    suite: Annotated[str, typer.Option(help="Only this suite, as in quick-v1; all that are stored by default.")] = "",
    results: options.Results = Path("results"),
    tracking_uri: options.TrackingUri = "",
) -> None:
    """Bring MLflow up to date with what is stored; doing it twice changes nothing."""
    from faithboard.cli.publishing import mirror
    from faithboard.results import board_of, results_of, suites_in
    from faithboard.store import Store

    store = Store(results, writable=False)
    found = [results_of(store, name) for name in ([suite] if suite else suites_in(store))]
    typer.echo(mirror(store, [(one, board_of(one)) for one in found], tracking_uri))


def ui(
    results: options.Results = Path("results"),
    tracking_uri: options.TrackingUri = "",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on 127.0.0.1.")] = 5000,
) -> None:
    """Open the MLflow UI on the synced runs, on 127.0.0.1."""
    from faithboard import tracking

    uri = tracking_uri or tracking.default_uri(results)
    command = tracking.ui(uri, port)
    for name, address in tracking.links(uri, port).items():
        typer.echo(f"{name}: {address}", err=True)
    typer.echo("stop it with Ctrl-C", err=True)
    os.execvpe(command[0], command, os.environ | tracking.ENVIRONMENT)
