"""The application: every command by name. Heavy imports happen inside the commands, so that help is instant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from faithboard import __version__
from faithboard.cli import ask, choosing, exchanging, reproduce, show, work

app = typer.Typer(
    name="faithboard",
    help="Which explanation methods tell the truth about a text classifier?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

COMMANDS: dict[str, Callable[..., None]] = {
    "run": work.run,
    "train": work.train,
    "choose-share": choosing.choose_share,
    "prepare": work.prepare,
    "plan": work.plan,
    "check": ask.check,
    "compare": ask.compare,
    "explain": ask.explain,
    "list": show.list_,
    "reproduce": reproduce.reproduce,
    "report": show.report,
    "forget": show.forget,
    "export": exchanging.export,
    "import": exchanging.import_,
    "sync": show.sync,
    "ui": show.ui,
}
for name, command in COMMANDS.items():
    app.command(name)(command)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    """Options without a command."""
    if version:
        typer.echo(f"faithboard {__version__}")
        raise typer.Exit
