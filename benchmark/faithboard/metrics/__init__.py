"""The metrics. Each is listed here by hand; a metric from outside comes by its file or entry point."""

from __future__ import annotations

from faithboard.metric import Metric
from faithboard.metrics.amounts import COMPLETENESS, INFIDELITY
from faithboard.metrics.decisions import FLIP_SHARE, FLIP_TOP1, REMOVAL_ACCURACY
from faithboard.metrics.eraser import (
    BY_OPERATOR,
    COMPREHENSIVENESS,
    COMPREHENSIVENESS_PAPER,
    SUFFICIENCY,
    SUFFICIENCY_PAPER,
)
from faithboard.metrics.naopc import NAOPC_COMPREHENSIVENESS, NAOPC_SUFFICIENCY
from faithboard.metrics.plausibility import AUPRC, IOU_F1, TOKEN_F1
from faithboard.metrics.rationale import MEAN_RANK, PRECISION_AT_K
from faithboard.metrics.roar import RECURSIVE_ROAR, ROAR
from faithboard.metrics.sanity import PARAMETER_RANDOMISATION
from faithboard.metrics.sensitivity import MAX_SENSITIVITY

BUILTIN: tuple[Metric, ...] = (
    COMPREHENSIVENESS,
    SUFFICIENCY,
    COMPREHENSIVENESS_PAPER,
    SUFFICIENCY_PAPER,
    *BY_OPERATOR,
    NAOPC_COMPREHENSIVENESS,
    NAOPC_SUFFICIENCY,
    REMOVAL_ACCURACY,
    FLIP_TOP1,
    FLIP_SHARE,
    COMPLETENESS,
    INFIDELITY,
    MAX_SENSITIVITY,
    PARAMETER_RANDOMISATION,
    ROAR,
    RECURSIVE_ROAR,
    PRECISION_AT_K,
    MEAN_RANK,
    AUPRC,
    TOKEN_F1,
    IOU_F1,
)
