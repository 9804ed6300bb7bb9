"""Commands that take results from one folder to another: export, import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from faithboard.cli import options


def export(
    suite: Annotated[str, typer.Argument(help="The suite, as in quick-v1.")],
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    results: options.Results = Path("results"),
    weights: Annotated[bool, typer.Option(help="Also the weights of the models, which ranking does not need.")] = False,
) -> None:
    """Write the results of a suite to one file, to be imported elsewhere."""
    from faithboard.exchange import export as write
    from faithboard.store import Store

    taken = write(Store(results, writable=False), suite, file, weights=weights)
    size = file.stat().st_size / 1e6
    typer.echo(f"{file} ({size:,.1f} MB): {taken.suite}, {taken.models:,} models, {taken.explanations:,} explanations")


def import_(
    files: Annotated[list[Path], typer.Argument(help="Files that `export` has written.")],
    results: options.Results = Path("results"),
) -> None:
    """Add exported results to a folder; what is there already stays. `report` then ranks them together."""
    from faithboard.exchange import bring
    from faithboard.store import Store

    store = Store(results)
    for file in files:
        for taken in bring(store, file):
            said = f"{file}: {taken.suite}, {taken.models:,} models, {taken.explanations:,} explanations"
            if taken.known:
                said += f"; {taken.known:,} of them were here already"
            if taken.rows:
                said += f" and got {taken.rows:,} scores they lacked"
            if taken.other:
                said += (
                    f"; {taken.other:,} left out, since their place is taken here: by other weights, data or settings "
                    "of the model, or by another version of the method"
                )
            typer.echo(said)
