"""The edge to MLflow: bring it up to date with the runs, or say in one sentence why that cannot be done."""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import re
import subprocess
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faithboard.errors import TrackingError
from faithboard.tracking.experiments import VIEW_TAG, Experiment, link
from faithboard.tracking.runs import Run
from faithboard.tracking.server import ENVIRONMENT, database

if TYPE_CHECKING:
    from mlflow import MlflowClient

_KEY, _IDENTITY = "faithboard.key", "faithboard.identity"
_SILENT = {"MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true"}
_IMPATIENT = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "10"}
"""A server that is down is said to be down within seconds; MLflow's own patience is minutes."""


@dataclass(frozen=True)
class SyncReport:
    """What a sync did."""

    created: int = 0
    replaced: int = 0
    """Runs whose content has changed: the old run is deleted (MLflow keeps it in its trash) and logged anew."""
    unchanged: int = 0
    experiments: Mapping[str, str] = field(default_factory=dict)
    """Name -> id in MLflow; see `links`."""


def sync(experiments: Iterable[Experiment], uri: str) -> SyncReport:
    """Log what MLflow does not have yet; doing it again changes nothing.

    A run is known by its identity (task, data, model, training, method) and compared by the hash of its content, which
    is written last: a sync that was cut off leaves runs that the next one replaces. Runs of methods that are no longer
    in the results stay, since others may sync into the same server.

    Raises TrackingError when MLflow is not installed, cannot be reached or refuses a record; results are untouched.
    """
    with _connected(uri) as client:
        return _Mirror(client, uri).update(experiments)


def links(uri: str, port: int) -> dict[str, str]:
    """Name of each experiment that a sync has made -> the address of its saved view in the UI. Raises TrackingError."""
    with _connected(uri) as client:
        found = client.search_experiments(order_by=["name"])
        return {one.name: link(one.experiment_id, port) for one in found if VIEW_TAG in one.tags}


@contextmanager
def _connected(uri: str) -> Iterator[MlflowClient]:
    """A client, in silence. Whatever MLflow has to complain about in the block becomes one TrackingError."""
    if importlib.util.find_spec("mlflow") is None:
        raise TrackingError('MLflow is not installed: pip install "faithboard[mlflow]"; results are kept without it')
    with _quiet():
        import requests.exceptions
        import sqlalchemy.exc
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException

        try:
            if (path := database(uri)) is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            yield MlflowClient(tracking_uri=uri)
        except (MlflowException, sqlalchemy.exc.SQLAlchemyError, OSError) as error:
            unanswered = isinstance(
                error.__context__, requests.exceptions.ConnectionError | requests.exceptions.Timeout
            )
            reason = "it does not answer" if unanswered else " ".join(str(error).split())[:300]
            raise TrackingError(
                f"MLflow at {uri} cannot be used: {reason}. The results are kept; `faithboard sync` repeats this step"
            ) from error


class _Mirror:
    """One pass over the experiments."""

    def __init__(self, client: MlflowClient, uri: str) -> None:
        self._client = client
        self._folder = path.parent / "mlartifacts" if (path := database(uri)) is not None else None
        self._commit = _commit()

    def update(self, experiments: Iterable[Experiment]) -> SyncReport:
        created = replaced = unchanged = 0
        identifiers = {}
        for experiment in experiments:
            identifier = identifiers[experiment.name] = self._experiment(experiment)
            known = self._known(identifier)
            for run in experiment.runs:
                old = known.get(run.identity, [])
                current = next((one for one in old if one.data.tags.get(_KEY) == run.key), None)
                if current is None:
                    self._log(identifier, run)
                # Only now: cut off in between, a sync leaves a run too many, which the next removes, not one too few.
                for one in old:
                    if one is not current:
                        self._client.delete_run(one.info.run_id)
                unchanged += current is not None
                replaced += current is None and bool(old)
                created += not old
        return SyncReport(created, replaced, unchanged, identifiers)

    def _experiment(self, wanted: Experiment) -> str:
        """Id of an experiment, which is made where it is missing, and brought back where it was deleted."""
        found = self._client.get_experiment_by_name(wanted.name)
        if found is None:
            # MLflow would put the files of a local database below the working directory, wherever that happens to be.
            folder = re.sub(r"[^\w.-]+", "-", wanted.name)
            place = (self._folder / folder).resolve().as_uri() if self._folder is not None else None
            return str(self._client.create_experiment(wanted.name, place, wanted.tags))
        if found.lifecycle_stage == "deleted":
            self._client.restore_experiment(found.experiment_id)
        for name, value in wanted.tags.items():
            if found.tags.get(name) != value:
                self._client.set_experiment_tag(found.experiment_id, name, value)
        return str(found.experiment_id)

    def _known(self, experiment: str) -> dict[str, list[Any]]:
        """The runs MLflow has of an experiment, by identity."""
        runs: dict[str, list[Any]] = defaultdict(list)
        token: str | None = None
        while token != "":
            page = self._client.search_runs([experiment], max_results=1000, page_token=token)
            for run in page:
                runs[run.data.tags.get(_IDENTITY, "")].append(run)
            token = page.token or ""
        return runs

    def _log(self, experiment: str, run: Run) -> None:
        from mlflow.entities import Metric, Param, RunTag

        tags = run.tags | {_IDENTITY: run.identity, "mlflow.source.name": "faithboard"}
        if self._commit:
            tags["mlflow.source.git.commit"] = self._commit
        logged = self._client.create_run(experiment, run_name=run.name, tags=tags).info.run_id
        now = int(time.time() * 1000)
        self._client.log_batch(
            logged,
            metrics=[Metric(point.metric, point.value, now, point.step) for point in run.points],
            params=[Param(name, value) for name, value in run.params.items()],
        )
        with tempfile.TemporaryDirectory() as folder:
            rows = json.dumps(run.rows, indent=1, ensure_ascii=False)
            (Path(folder) / "rows.json").write_text(rows, encoding="utf-8")
            (Path(folder) / "leaderboard.md").write_text(run.page + "\n", encoding="utf-8")
            run.values.to_parquet(Path(folder) / "values.parquet", index=False)
            self._client.log_artifacts(logged, folder)
        self._client.set_terminated(logged, run.status)
        self._client.log_batch(logged, tags=[RunTag(_KEY, run.key)])


def _commit() -> str:
    """The commit of the checkout that this code runs from; empty for an installed package."""
    here = Path(__file__)

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(here.parent), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", here.name)  # an environment inside somebody's checkout is not that checkout
        return git("rev-parse", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        return ""


@contextmanager
def _quiet() -> Iterator[None]:
    """MLflow with no telemetry, no long retries and nothing on the terminal; everything is put back afterwards."""
    patience = {name: value for name, value in _IMPATIENT.items() if name not in os.environ}
    with _environment(ENVIRONMENT | _SILENT | patience), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mlflow  # noqa: F401  the import sets up MLflow's loggers, so they can only be silenced after it

        loggers = [logging.getLogger(name) for name in ("mlflow", "alembic", "urllib3")]
        levels = [logger.level for logger in loggers]
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)


@contextmanager
def _environment(wanted: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
