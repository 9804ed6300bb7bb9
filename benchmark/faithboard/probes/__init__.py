"""The probes: questions to the model itself. Each is listed here by hand."""

from __future__ import annotations

from faithboard.metric import Probe
from faithboard.probes.adversarial import ADVERSARIAL, ADVERSARIAL_CODE_2019
from faithboard.probes.agreement import ATTENTION_AGREEMENT
from faithboard.probes.permutation import PERMUTATION

BUILTIN: tuple[Probe, ...] = (ATTENTION_AGREEMENT, PERMUTATION, ADVERSARIAL, ADVERSARIAL_CODE_2019)
