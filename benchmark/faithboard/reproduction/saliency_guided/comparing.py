"""What is compared with what, and when a difference counts as shown. The rules that the verdicts of a page follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from faithboard.training.share import MARGIN

if TYPE_CHECKING:
    from faithboard.reproduction.saliency_guided.lines import BaselineLine, DifferenceLine

MODEL = "bilstm-additive"
"""The model that the published numbers stand beside, and that the claims are about."""
STANDARD, GUIDED, MASKED = "standard", "saliency-guided", "random-masking"
TRAININGS = (STANDARD, GUIDED, MASKED)
PAIRS = ((GUIDED, STANDARD), (MASKED, STANDARD), (GUIDED, MASKED))
"""Trainings (a, b) of which a less b is shown."""
METHODS = ("gradient-l2", "integrated-gradients", "smoothgrad")
RANDOM = "random"
CODE, PAPER, NORMALISED = "eraser-code", "paper", "normalised"
METRICS = {
    "comprehensiveness": ("comprehensiveness", CODE),
    "comprehensiveness-paper": ("comprehensiveness", PAPER),
    "sufficiency": ("sufficiency", CODE),
    "sufficiency-paper": ("sufficiency", PAPER),
    "naopc-comprehensiveness": ("comprehensiveness", NORMALISED),
    "naopc-sufficiency": ("sufficiency", NORMALISED),
}
"""Row of the engine -> metric and profile."""
BETTER = {"comprehensiveness": 1, "sufficiency": -1}
"""Metric -> sign of a gain."""

SAME, UNDECIDED, OPPOSITE = "same direction", "no difference shown", "opposite direction"
UNPUBLISHED = "a difference where none is published"
KEPT, LOST, OPEN = f"kept within {MARGIN * 100:g} point", "lost", "not decided"


def direction(low: float, high: float, n: int) -> Literal[-1, 0, 1]:
    """Sign of a difference whose interval lies away from 0; 0 for an interval that holds or touches it.

    A single text shows no difference: its interval has no width.
    """
    if n < 2 or low <= 0 <= high:
        return 0
    return 1 if low > 0 else -1


def shown(line: DifferenceLine | BaselineLine) -> Literal[-1, 0, 1]:
    """Sign of a difference that a claim may rest on: its interval lies away from 0 and every seed has that sign.

    The interval is over texts; how models of another seed would differ only the seeds can say.
    """
    return direction(line.low, line.high, line.n) if line.agreeing == len(line.seeds) else 0


def verdict(sign: int, published: float | None) -> str:
    """Verdict on a difference of two trainings, of which `sign` is the direction, beside the published difference.

    Without a published one, `higher` or `lower`; where the published difference is 0, there is no direction to share.
    """
    if sign == 0:
        return UNDECIDED
    if published is None:
        return "higher" if sign > 0 else "lower"
    if published == 0:
        return UNPUBLISHED
    return SAME if sign * published > 0 else OPPOSITE


def baseline_verdict(sign: int, metric: str) -> str:
    """Verdict on a method less a random order, of which `sign` is the direction."""
    if sign == 0:
        return UNDECIDED
    return "better than random" if sign == BETTER[metric] else "worse than random"


def accuracy_verdict(low: float, high: float, *, in_every_seed: bool) -> str:
    """Verdict on a difference of accuracy: kept when its interval excludes a loss over `MARGIN`, else lost when it lies
    below 0 and every seed loses, otherwise not decided."""
    # Accuracies are counts over n: without the small addition a loss of exactly the margin would be rounded over it.
    if low >= -MARGIN - 1e-9:
        return KEPT
    return LOST if high < 0 and in_every_seed else OPEN
