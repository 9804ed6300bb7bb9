"""The tables of the page about the models that ask whether attention matters, and whether the explained text does."""

from __future__ import annotations

from collections.abc import Iterable

from faithboard.report import markdown
from faithboard.report.markdown import number, with_interval
from faithboard.stats.checks import CONTROLS, ModelCheck

ATTENTION = """
The same encoder with learned attention and, instead of it, none (the encoder's summary), uniform and random weights:
accuracy on the full test split, mean over the seeds that both have. Attention matters where the accuracy drops, with
all of the interval and in every seed. Where it does not drop, attention does not matter for the task, whatever its
weights show.
""".strip()

TEXT = """
Accuracy of the same model when every explained token is removed and the query stays. Where the text adds little, an
explanation of the text is worth little: here where it adds less than five points with all of its interval.
""".strip()

LITTLE = 0.05
"""Accuracy that a text must be able to add for an explanation of it to be worth much."""

_MATTERS, _UNDECIDED, _HURTS = "matters", "no difference shown", "hurts"


def attention_table(checks: Iterable[ModelCheck]) -> str:
    """Learned attention against its controls, with what is asked; empty where there is no control to compare with."""
    rows = []
    for check in checks:
        if check.attention in CONTROLS and check.against:
            learned, control = _accuracies(check)
            rows.append(
                (
                    check.task,
                    check.encoder,
                    check.training,
                    f"{check.against.rpartition('-')[2]} {number(learned)}",
                    f"{check.attention} {number(control)}",
                    with_interval(check.loss, check.loss_low, check.loss_high),
                    _seeds(check),
                    _attention(check),
                )
            )
    headers = ("task", "encoder", "training", "learned", "instead", "what is lost", "seeds", "learned attention")
    return f"{ATTENTION}\n\n{markdown.table(headers, rows)}" if rows else ""


def text_table(checks: Iterable[ModelCheck]) -> str:
    """What the explained text adds to the query, with what is asked; empty where no task has a query."""
    rows = [
        (
            check.task,
            check.model,
            check.training,
            with_interval(check.accuracy, check.low, check.high),
            number(check.query_only),
            with_interval(check.gain, check.gain_low, check.gain_high),
            _text(check),
        )
        for check in checks
        if check.query_only is not None
    ]
    headers = ("task", "model", "training", "accuracy", "query alone", "what the text adds", "the text")
    return f"{TEXT}\n\n{markdown.table(headers, rows)}" if rows else ""


def _accuracies(check: ModelCheck) -> tuple[float | None, float | None]:
    """Of the learned attention and of the control, on the seeds that both have."""
    if check.loss is None:
        return None, None
    if check.against_accuracy is None:  # a line of an earlier release, which compared all seeds of both
        return check.accuracy + check.loss, check.accuracy
    return check.against_accuracy, check.against_accuracy - check.loss


def _seeds(check: ModelCheck) -> str:
    """`3`, or `2 of 3 (not 1)` where one of the two lacks seed 1."""
    compared = len(check.seed_losses)
    if check.lacking:
        return f"{compared} of {compared + len(check.lacking)} (not {', '.join(map(str, check.lacking))})"
    return str(compared or len(check.seeds))


def _attention(check: ModelCheck) -> str:
    if check.loss is None or check.loss_low is None or check.loss_high is None:
        return markdown.NOTHING
    of_seed = list(check.seed_losses.values()) or [check.loss] * (len(check.seeds) == 1)
    if check.loss_low > 0 or check.loss_high < 0:
        verdict = _MATTERS if check.loss > 0 else _HURTS
        if not of_seed:
            verdict = "not known for every seed"  # as above
        elif any(one * check.loss <= 0 for one in of_seed):
            verdict = f"{_UNDECIDED}: not in every seed"
    else:
        verdict = _UNDECIDED
    return f"{verdict} (one seed)" if len(of_seed) == 1 else verdict


def _text(check: ModelCheck) -> str:
    if check.gain_low is None or check.gain_high is None:
        return markdown.NOTHING
    if check.gain_high < 0:
        return _HURTS
    if check.gain_high < LITTLE:
        return "**adds little**"
    return _MATTERS if check.gain_low > 0 else _UNDECIDED
