"""Cross a suite: what to train and explain, what is stored, what is refused and why, what it costs. Pure."""

from __future__ import annotations

from faithboard.planning.crossing import make_plan

__all__ = ["make_plan"]
