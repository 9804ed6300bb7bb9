"""The probes: questions to the model itself. Each is listed here by hand."""

from __future__ import annotations

from faithboard.metric import Probe
from faithboard.probes.agreement import ATTENTION_AGREEMENT

BUILTIN: tuple[Probe, ...] = (ATTENTION_AGREEMENT,)
