"""Carrying out a plan: train, explain, score, time."""

from __future__ import annotations

from faithboard.running.jobs import Outcome, run

__all__ = ["Outcome", "run"]
