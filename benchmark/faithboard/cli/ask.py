"""Commands that answer a question about methods: check, compare, explain."""

from __future__ import annotations

import os
import shutil
import sys
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


def explain(
    task: Annotated[str, typer.Option(help="The task whose stored model explains.")],
    text: Annotated[str, typer.Argument(help="A text of your own, in quotes.")] = "",
    methods: options.Methods = "attention,gradient-l2,leave-one-out",
    query: Annotated[str, typer.Option(help="The query of your text, for tasks that have one.")] = "",
    example: Annotated[list[str], typer.Option(help="Id of a test example; may be given several times.")] = [],  # noqa: B006  typer copies it
    model: Annotated[str, typer.Option(help="The model: its name, or file.py:attribute.")] = "",
    training: Annotated[str, typer.Option(help="Training of the model.")] = "standard",
    seed: Annotated[int | None, typer.Option(help="Seed of the model; the lowest that is stored by default.")] = None,
    html: Annotated[Path, typer.Option(help="The page that is written.")] = Path("explanation.html"),
    data: options.Data = None,
    origin: options.Origin = "auto",
    results: options.Results = Path("results"),
    device: options.Device = "auto",
    threads: options.Threads = 1,
) -> None:
    """Explain a text with a trained model: words coloured by score, here and on an HTML page."""
    from faithboard.report.coloured import terminal_text
    from faithboard.report.html import html_page
    from faithboard.session import Place, chosen_device, chosen_origin
    from faithboard.store import Store, write_atomically
    from faithboard.texts import ask

    place = Place(Store(results, writable=False), chosen_device(device, threads), data, chosen_origin(origin))
    answer = ask(
        place,
        task,
        options.separated(methods),
        texts=[text] if text else [],
        query=query,
        examples=example,
        model=model,
        training=training,
        seed=seed,
    )
    colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    width = shutil.get_terminal_size((80, 24)).columns
    typer.echo(answer.model)
    for one in answer.texts:
        typer.echo(f"\n{one.example}\n{terminal_text(one, colours=colours, width=width)}")
    if answer.private:
        typer.echo(f"\nno page is written: texts of {answer.record.task} are private", err=True)
    else:
        page = html_page(f"Explanations: {answer.record.task}", answer.model, answer.texts)
        write_atomically(html, lambda temporary: temporary.write_text(page, encoding="utf-8"))
        typer.echo(f"\npage: {html}")
    if any(said.failed for one in answer.texts for said in one.methods):
        raise typer.Exit(FAILED)
