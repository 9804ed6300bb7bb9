"""Comprehensiveness and sufficiency on the scale of what the model can reach on the text (Edin et al. 2025).

0 is the lowest and 1 the highest value of any order of the tokens, so that models of other confidence can be compared.
Where the bounds come from a beam search an order may lie beyond them: its value is left as it is. The search asks more
of a model than most methods do, so only the first `MOST` examples have the metric.
"""

from __future__ import annotations

from dataclasses import replace

from faithboard.metric import ErasureMetric
from faithboard.metrics.eraser import CODE, COMPREHENSIVENESS, SUFFICIENCY
from faithboard.metrics.orderings import BEAM, EXACT, LONGEST, Reachable

MOST = 100
"""Examples of a model that are computed at most."""


def bounds_steps(length: int) -> float:
    """Planned token steps of both bounds of a text of T tokens, at most.

    Every set is asked while T is small, later `BEAM` sets with every further token, up to half of them, for each bound.
    """
    if length > LONGEST:
        return 0.0
    if length <= EXACT:
        return float(2**length * length)
    return float(sum(2 * BEAM * (length - k) * length for k in range((length + 1) // 2)))


def normalised(metric: ErasureMetric, keeps: bool) -> ErasureMetric:
    """The metric scaled per example by its bounds; it keeps its better end."""
    return replace(
        metric,
        name=f"naopc-{metric.name}",
        version=2,  # in 1 every example was computed
        source="Edin et al. 2025 (Normalized AOPC), sections 3 and 4",
        parameters={**metric.parameters, "exact-up-to": EXACT, "beam": BEAM, "longest": LONGEST, "most": MOST},
        longest=LONGEST,
        most=MOST,
        bounds=Reachable(CODE, keeps),
        bounds_steps=bounds_steps,
    )


NAOPC_COMPREHENSIVENESS = normalised(COMPREHENSIVENESS, keeps=False)
NAOPC_SUFFICIENCY = normalised(SUFFICIENCY, keeps=True)
