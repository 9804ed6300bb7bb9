"""The command line: thin commands over `faithboard.session`, `report` and `tracking`."""

from __future__ import annotations

import sys

from faithboard.cli.app import app
from faithboard.errors import FaithboardError


def main() -> None:
    """Run a command. An error that is the user's to mend is one message on standard error and exit code 2."""
    try:
        app()
    except FaithboardError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        raise SystemExit(2) from error
