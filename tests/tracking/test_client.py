"""Against a real MLflow on SQLite: one database is made for all tests, since its migrations take seconds."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from faithboard.errors import TrackingError
from faithboard.tracking import ENVIRONMENT, Experiment, Run, SyncReport, default_uri, links, sync, ui
from faithboard.tracking.experiments import VIEW_TAG
from faithboard.tracking.runs import Point

mlflow_missing = importlib.util.find_spec("mlflow") is None
needs_mlflow = pytest.mark.skipif(mlflow_missing, reason="MLflow is not installed")


def run(method: str = "attention", value: float = 0.5) -> Run:
    return Run(
        name=method,
        identity=f"toy/bilstm-additive/standard/01234567/{method}",
        status="FINISHED",
        params={"method": method, "model": "bilstm-additive"},
        points=(
            Point("precision-at-k", value),
            Point("seed/precision-at-k", value - 0.1, 0),
            Point("seed/precision-at-k", value + 0.1, 1),
        ),
        tags={"faithboard.status": "ok"},
        rows=[{"metric": "precision@k", "value": value}],
        page="# the leaderboard",
        values=pd.DataFrame({"metric": ["precision@k"], "example": ["e0"], "value": [value], "seed": [0]}),
    )


def toy(*runs: Run) -> list[Experiment]:
    return [Experiment("quick v1 / toy", {VIEW_TAG: "{}"}, runs)]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """An empty database, and what making it wrote to the terminal."""
    folder = tmp_path_factory.mktemp("template")
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        sync([], default_uri(folder))
    return folder / "mlflow.db", said.getvalue()


@pytest.fixture
def uri(template: tuple[Path, str], tmp_path: Path) -> str:
    shutil.copy(template[0], tmp_path / "mlflow.db")
    return default_uri(tmp_path)


def stored(uri: str) -> list[Any]:
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=uri)
    return list(client.search_runs([e.experiment_id for e in client.search_experiments()]))


def counts(report: SyncReport) -> tuple[int, int, int]:
    return report.created, report.replaced, report.unchanged


@needs_mlflow
def test_making_the_database_says_nothing(template: tuple[Path, str]) -> None:
    assert template[1] == ""


@needs_mlflow
def test_a_second_sync_changes_nothing(uri: str, tmp_path: Path) -> None:
    from mlflow import MlflowClient

    runs = toy(run("attention", 0.5), run("random", 0.1))
    assert counts(sync(runs, uri)) == (2, 0, 0)
    before = {one.info.run_id: one.to_dictionary() for one in stored(uri)}
    assert counts(sync(runs, uri)) == (0, 0, 2)
    assert {one.info.run_id: one.to_dictionary() for one in stored(uri)} == before

    found = next(one for one in stored(uri) if one.data.params["method"] == "attention")
    assert found.data.metrics["precision-at-k"] == 0.5
    assert found.info.status == "FINISHED"
    client = MlflowClient(tracking_uri=uri)
    history = client.get_metric_history(found.info.run_id, "seed/precision-at-k")
    assert [(point.step, point.value) for point in history] == [(0, 0.4), (1, 0.6)]
    names = {artifact.path for artifact in client.list_artifacts(found.info.run_id)}
    assert names == {"rows.json", "values.parquet", "leaderboard.md"}
    (rows,) = (tmp_path / "mlartifacts").rglob(f"{found.info.run_id}/artifacts/rows.json")
    assert json.loads(rows.read_text(encoding="utf-8")) == [{"metric": "precision@k", "value": 0.5}]


@needs_mlflow
def test_another_content_replaces_the_run_and_only_that(uri: str) -> None:
    sync(toy(run("attention", 0.5), run("random", 0.1)), uri)
    assert counts(sync(toy(run("attention", 0.7), run("random", 0.1)), uri)) == (0, 1, 1)
    values = {one.data.params["method"]: one.data.metrics["precision-at-k"] for one in stored(uri)}
    assert values == {"attention": 0.7, "random": 0.1}


@needs_mlflow
def test_a_deleted_experiment_comes_back_and_its_view_is_kept_up_to_date(uri: str) -> None:
    from mlflow import MlflowClient

    (identifier,) = sync(toy(run()), uri).experiments.values()
    MlflowClient(tracking_uri=uri).delete_experiment(identifier)
    other = Experiment("quick v1 / toy", {VIEW_TAG: "[]"}, (run(),))
    assert sync([other], uri).experiments == {"quick v1 / toy": identifier}
    found = MlflowClient(tracking_uri=uri).get_experiment(identifier)
    assert (found.lifecycle_stage, found.tags[VIEW_TAG]) == ("active", "[]")
    assert [one.info.lifecycle_stage for one in stored(uri)] == ["active"]


@needs_mlflow
def test_links_lead_to_the_saved_views_and_to_nothing_else(uri: str) -> None:
    (identifier,) = sync(toy(run()), uri).experiments.values()
    found = links(uri, 5000)
    assert found.keys() == {"quick v1 / toy"}
    assert f"/experiments/{identifier}/runs" in found["quick v1 / toy"]


@needs_mlflow
def test_a_sync_that_was_cut_off_is_mended_by_the_next(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlflow import MlflowClient

    with monkeypatch.context() as patch:
        patch.setattr(MlflowClient, "set_terminated", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(TrackingError, match="disk full"):
            sync(toy(run()), uri)
    assert [one.info.status for one in stored(uri)] == ["RUNNING"]
    assert counts(sync(toy(run()), uri)) == (0, 1, 0)
    assert [one.info.status for one in stored(uri)] == ["FINISHED"]


@needs_mlflow
def test_a_refused_record_is_one_clear_error(uri: str) -> None:
    with pytest.raises(TrackingError, match=r"precision@k.*results are kept"):
        sync(toy(replace(run(), points=(Point("precision@k", 0.5),))), uri)


@needs_mlflow
@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("http://127.0.0.1:9", "it does not answer"),
        ("sqlite:////dev/null/mlflow.db", "File exists"),
        ("nonsense://x", "nonsense"),
    ],
)
def test_what_cannot_be_reached_is_said_quickly(uri: str, reason: str) -> None:
    start = time.monotonic()
    with pytest.raises(TrackingError, match=f"cannot be used: .*{reason}.*results are kept; `faithboard sync`"):
        sync(toy(run()), uri)
    assert time.monotonic() - start < 30


@needs_mlflow
@pytest.mark.slow
def test_the_ui_runs_and_a_sync_over_http_says_nothing(
    uri: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    with subprocess.Popen(
        ui(uri, port),
        env=os.environ | ENVIRONMENT,
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as server:
        try:
            wait_for(f"{address}/health")
            assert counts(sync(toy(run()), address)) == (1, 0, 0)
            assert counts(sync(toy(run()), address)) == (0, 0, 1)
        finally:
            os.killpg(server.pid, signal.SIGTERM)
    assert capfd.readouterr() == ("", "")


def wait_for(address: str, seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5):
            return
        time.sleep(0.5)
    pytest.fail(f"{address} did not answer within {seconds:.0f} s")


def test_without_mlflow_the_way_to_install_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(TrackingError, match=r'pip install "faithboard\[mlflow\]"'):
        sync(toy(run()), "sqlite:///nowhere.db")


def test_the_ui_needs_a_database_and_stays_on_this_machine(tmp_path: Path) -> None:
    with pytest.raises(TrackingError, match="no database"):
        ui(default_uri(tmp_path), 5000)
    with pytest.raises(TrackingError, match="UI of its own"):
        ui("http://tracking.example", 5000)
    (tmp_path / "mlflow.db").touch()
    command = ui(default_uri(tmp_path), 5001)
    assert command[command.index("--host") + 1] == "127.0.0.1"
    assert command[command.index("--port") + 1] == "5001"
