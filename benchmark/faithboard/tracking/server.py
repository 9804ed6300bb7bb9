"""Where the view lies by default, and how MLflow's own UI is started on it."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

from faithboard.errors import TrackingError

DATABASE = "mlflow.db"
_SQLITE = "sqlite:///"

ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
}
"""Set wherever MLflow runs: it sends nothing to anybody, and its UI starts no workers for jobs that nobody gives it."""


def default_uri(results: Path) -> str:
    """The SQLite database in a results folder."""
    return f"{_SQLITE}{(results / DATABASE).resolve()}"


def database(uri: str) -> Path | None:
    """The file of a SQLite URI; None for any other."""
    return Path(uri.removeprefix(_SQLITE)) if uri.startswith(_SQLITE) else None


def ui(uri: str, port: int) -> list[str]:
    """The command line of MLflow's UI on 127.0.0.1; run it with `ENVIRONMENT`.

    Raises TrackingError for a server, which has a UI of its own, a port in use, and a database that no sync has made.
    """
    if uri.startswith(("http://", "https://")):
        raise TrackingError(f"{uri} is an MLflow server with a UI of its own: open it in a browser")
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            raise TrackingError(f"port {port} is in use; choose another with --port")
    path = database(uri)
    if path is not None and not path.is_file():
        raise TrackingError(f"there is no database {path} yet; `faithboard sync` (or a run) makes it")
    server = [sys.executable, "-m", "mlflow", "ui", "--host", "127.0.0.1", "--port", str(port)]
    return [*server, "--backend-store-uri", uri, "--workers", "1"]
