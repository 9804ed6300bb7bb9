"""The metrics. Each is listed here by hand; a metric from outside comes by its file or entry point."""

from __future__ import annotations

from faithboard.metric import Metric
from faithboard.metrics.eraser import COMPREHENSIVENESS, COMPREHENSIVENESS_PAPER, SUFFICIENCY, SUFFICIENCY_PAPER
from faithboard.metrics.rationale import PRECISION_AT_K

BUILTIN: tuple[Metric, ...] = (
    COMPREHENSIVENESS,
    SUFFICIENCY,
    COMPREHENSIVENESS_PAPER,
    SUFFICIENCY_PAPER,
    PRECISION_AT_K,
)
