"""A one-way view of the results in MLflow. No result is read back: whatever is lost there, a sync brings back."""

from __future__ import annotations

from faithboard.tracking.client import SyncReport, links, sync
from faithboard.tracking.experiments import Experiment, experiments_of
from faithboard.tracking.runs import Run
from faithboard.tracking.server import ENVIRONMENT, default_uri, ui

__all__ = ["ENVIRONMENT", "Experiment", "Run", "SyncReport", "default_uri", "experiments_of", "links", "sync", "ui"]
