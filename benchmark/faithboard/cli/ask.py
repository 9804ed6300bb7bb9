"""Commands that answer a question about methods: check, compare, explain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from faithboard.cli import options

FAILED = 1
"""Exit code when a method failed; 2 is for input that makes no sense."""


def check(
    methods: Annotated[list[str], typer.Argument(help="Methods: file.py:attribute, or names.")],
    device: options.Device = "auto",
    threads: options.Threads = 1,
) -> None:
    """Try methods against every rule of the contract, on small models; seconds, and no data is needed."""
    from faithboard.conformance.checking import judged
    from faithboard.conformance.subjects import subjects
    from faithboard.report.verdicts import verdict_text
    from faithboard.resolve import resolve_all
    from faithboard.session import chosen_device

    found = resolve_all("method", methods)
    tried_on = subjects(chosen_device(device, threads))
    passed = True
    for one in found:
        verdict = judged(one.value, tried_on)
        passed = passed and verdict.passed
        typer.echo(verdict_text(verdict, Path(one.origin).name) + "\n")
    if not passed:
        raise typer.Exit(FAILED)


def compare(
    a: Annotated[str, typer.Argument(help="A method: its name, or file.py:attribute.")],
    b: Annotated[str, typer.Argument(help="The method it is compared with.")],
    task: Annotated[str, typer.Option(help="Only this task; all that both explain by default.")] = "",
    model: Annotated[str, typer.Option(help="Only this model.")] = "",
    training: Annotated[str, typer.Option(help="Only models of this training.")] = "",
    suite: Annotated[str, typer.Option(help="Only this suite, as in quick or quick-v1.")] = "",
    results: options.Results = Path("results"),
) -> None:
    """Compare two methods on the same examples and weights, metric by metric, on what is stored."""
    from faithboard.comparing import compared
    from faithboard.report.duels import duels_text
    from faithboard.store import Store

    store = Store(results, writable=False)
    found = compared(store, a, b, task=task, suite=suite, model=model, training=training)
    typer.echo(duels_text(found))
