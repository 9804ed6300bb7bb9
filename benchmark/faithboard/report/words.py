"""What a metric asks, in a sentence. Only what a table shows is explained beside it."""

from __future__ import annotations

from collections.abc import Mapping

from faithboard.report.layout import Grid

WORDS: Mapping[str, str] = {
    "precision@k": "share of the k highest-ranked tokens that are marked, k being the number of marked ones",
    "mean-rank": "mean rank of the marked tokens, 0 where they come first and 1 where they come last",
    "comprehensiveness": "what the probability of the predicted class loses when the top 1, 5, 10, 20 and 50 % of the "
    "tokens are deleted, mean over the five",
    "sufficiency": "what the probability of the predicted class loses when only the top 1, 5, 10, 20 and 50 % of "
    "the tokens are kept, mean over the five",
    "naopc-comprehensiveness": "comprehensiveness on the scale of what any order of the tokens can reach, 0 to 1",
    "naopc-sufficiency": "sufficiency on the scale of what any order of the tokens can reach, 0 to 1",
    "removal-accuracy-auc": "area under the accuracy as the top 0, 10 .. 90 % of the tokens are deleted",
    "decision-flip-top1": "share of the texts whose predicted class changes when the first token is deleted",
    "decision-flip-share": "share of the tokens, in their order, that must go until the predicted class changes",
    "roar": "accuracy of a fresh model after the words of largest |score| were deleted from all splits, mean over the "
    "shares deleted",
    "recursive-roar": "`roar` where what is left at a share is explained anew, by the model trained on it, before more "
    "is deleted",
    "auprc": "area under the precision-recall curve of the order against the marked tokens",
    "token-f1": "F1 of the tokens of the predicted rationale against the marked ones",
    "iou-f1": "F1 of the runs of the predicted rationale: one is right where its overlap with a marked run is at least "
    "half their union",
    "infidelity": "how far sums of scores are from what random sets of tokens take from the probability, at the scale "
    "(never negative) that fits best",
    "max-sensitivity": "how far the scores move when the embedded text moves a little. A method that looks at nothing "
    "never moves: this ranks stability, which is not faithfulness",
    "completeness": "distance of the sum of the scores from the sum that the method promises: median over the examples "
    "and, in brackets, 95th percentile (mean over seeds). It is not ranked, as what is left may be rounding alone",
}
VARIANTS: Mapping[str, str] = {
    "-attention": "tokens stay in the text, and their attention is taken away instead",
    "-paper": "the profile of the printed formula, which counts from 0 % on and divides by six",
    "-previous": "the nearest kept word before it stands in the place of each deleted token",
    "-unk": "`<unk>` stands in the place of each deleted token",
    "-zero": "a zero vector stands in the place of each deleted token",
}
"""Ending of the name of a metric -> how it differs from the metric without it."""


def explained(grid: Grid) -> list[str]:
    """A sentence for each metric of a grid that has one, and for each way in which others differ from those."""
    lines = [f"`{metric}`: {WORDS[metric]}." for metric in grid.metrics if metric in WORDS]
    others = [metric for metric in grid.metrics if metric not in WORDS]
    return lines + [f"`{end}`: {what}." for end, what in VARIANTS.items() if any(one.endswith(end) for one in others)]
