"""Commands that answer a question about methods: check, compare, explain."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithboard.cli import options
from faithboard.errors import SuiteError

if TYPE_CHECKING:
    import torch

FAILED = 1
"""Exit code when a method failed; 2 is for input that makes no sense."""


def check(
    methods: Annotated[list[str], typer.Argument(help="Methods or models: file.py:attribute, or names.")],
    task: Annotated[str, typer.Option(help="The task that models are made for and tried on.")] = "planted",
    data: options.Data = None,
    results: options.Results = Path("results"),
    device: options.Device = "auto",
    threads: options.Threads = 1,
) -> None:
    """Try methods against every rule of the contract, on small models; seconds, and no data is needed.

    A model of your own is made for `--task`, which may train it, and tried on texts of it.
    """
    from faithboard.conformance.checking import judged
    from faithboard.conformance.subjects import subjects
    from faithboard.report.verdicts import verdict_text
    from faithboard.resolve import is_model, resolve_all
    from faithboard.session import chosen_device

    models = [reference for reference in methods if is_model(reference)]
    found = resolve_all("method", [reference for reference in methods if reference not in models])
    on = chosen_device(device, threads)
    tried_on = subjects(on) if found else []
    passed = True
    for one in found:
        verdict = judged(one.value, tried_on)
        passed = passed and verdict.passed
        typer.echo(verdict_text(verdict, Path(one.origin).name) + "\n")
    for text, kept in _models_checked(models, task, data, results, on):
        passed = passed and kept
        typer.echo(text + "\n")
    if not passed:
        raise typer.Exit(FAILED)


def _models_checked(
    references: list[str], task: str, data: Path | None, results: Path, device: torch.device
) -> Iterator[tuple[str, bool]]:
    """The text of each model's checks, and whether it keeps the contract. The texts are cached below `results`."""
    if not references:
        return
    from faithboard.data import load
    from faithboard.model_checks.checking import judged_model
    from faithboard.report.verdicts import model_verdict_text
    from faithboard.resolve import resolve, resolve_all

    loaded = load(resolve("task", task).value, cache=results, root=data)
    for one in resolve_all("model", references):
        findings = judged_model(one.value, loaded, device)
        text = model_verdict_text(one.name, Path(one.origin).name, loaded.task.name, findings)
        yield text, all(finding.outcome != "failed" for finding in findings)


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
    from faithboard.report.coloured import printable, terminal_text
    from faithboard.report.html import html_page
    from faithboard.session import Place, chosen_device, chosen_origin
    from faithboard.store import Store, write_atomically
    from faithboard.texts import ask

    if not html.parent.is_dir():
        raise SuiteError(f"the folder {html.parent} does not exist; create it")
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
        typer.echo(f"\n{printable(one.example)}\n{terminal_text(one, colours=colours, width=width)}")
    if answer.private:
        typer.echo(f"\nno page is written: texts of {answer.record.task} are private", err=True)
    else:
        page = html_page(f"Explanations: {answer.record.task}", answer.model, answer.texts)
        write_atomically(html, lambda temporary: temporary.write_text(page, encoding="utf-8"))
        typer.echo(f"\npage: {html}")
    if any(said.failed for one in answer.texts for said in one.methods):
        raise typer.Exit(FAILED)
