"""What a metric is. The engine owns order and ties; a metric says which tokens to drop and how to read the result."""

from __future__ import annotations

from faithboard.metric.amounts import AmountMetric, Amounts
from faithboard.metric.base import Metric
from faithboard.metric.erasure import Erased, ErasureMetric, mean_of_points
from faithboard.metric.probe import Probe, ProbeContext
from faithboard.metric.rationale import RationaleMetric
from faithboard.metric.reruns import RerunMetric, RetrainMetric, RunsMethods

__all__ = [
    "AmountMetric",
    "Amounts",
    "Erased",
    "ErasureMetric",
    "Metric",
    "Probe",
    "ProbeContext",
    "RationaleMetric",
    "RerunMetric",
    "RetrainMetric",
    "RunsMethods",
    "mean_of_points",
]
