"""Carrying out a plan: train, explain, score, time."""

from __future__ import annotations

from faithboard.running.jobs import run
from faithboard.running.recording import Outcome

__all__ = ["Outcome", "run"]
