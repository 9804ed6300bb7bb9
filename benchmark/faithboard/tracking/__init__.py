"""A one-way view of the results in MLflow. No result is read back: whatever is lost there, a sync brings back."""

from __future__ import annotations

from faithboard.tracking.client import SyncReport, sync
from faithboard.tracking.runs import Run, runs_of
from faithboard.tracking.server import ENVIRONMENT, default_uri, ui

__all__ = ["ENVIRONMENT", "Run", "SyncReport", "default_uri", "runs_of", "sync", "ui"]
