"""The page about the models: how good they are, and whether attention and the explained text matter at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from faithboard.published import performance
from faithboard.report import layout, markdown
from faithboard.report.markdown import number, with_interval
from faithboard.report.training_costs import training_cost_table
from faithboard.stats.board import Board, Table
from faithboard.stats.checks import CONTROLS, ModelCheck

ATTENTION = """
The same encoder with learned attention against none (the encoder's summary), uniform and random weights, on the full
test split. Where the accuracy does not drop, attention does not matter for the task, whatever its weights show.
""".strip()

PARTIAL = """
Accuracy of the same model when every explained token is removed and the query stays. Where the text adds little, an
explanation of the text is worth little: here where it adds less than five points with all of its interval.
""".strip()

LITTLE = 0.05
"""Accuracy that a text must be able to add for an explanation of it to be worth much."""


def models_page(board: Board) -> str:
    """The Markdown of a suite's page of models, heading included."""
    first = board.tables[0]
    parts = [f"# {first.suite} v{first.suite_version}: models", _performance(board)]
    attention = _attention(board.checks)
    if attention:
        parts += ["## Does attention matter?", ATTENTION, attention]
    partial = _partial(board.checks)
    if partial:
        parts += ["## Does the text matter?", PARTIAL, partial]
    if costs := training_cost_table(board):
        parts += ["## Cost of training", costs]
    return "\n\n".join(parts)


def _performance(board: Board) -> str:
    rows = []
    for table in board.tables:
        values = table.performance.get(table.performance_measure, [])
        accuracy = table.performance.get("accuracy", [])
        said = layout.reservations(table)
        rows.append(
            (
                f"{layout.task_name(board, table)}{f' ({said})' if said else ''}",
                table.model,
                table.training,
                table.vectors,
                f"{table.performance_measure} {_mean_and_spread(values)}",
                _published(table),
                _mean_and_spread(accuracy),
                "passed" if table.gate_passed else "**not passed**",
                *(_mean_and_spread(table.performance.get(name, [])) for name in DIAGNOSTICS),
            )
        )
    headers = (
        "task",
        "model",
        "training",
        "vectors",
        "test performance",
        "published",
        "accuracy",
        "accuracy gate",
        *DIAGNOSTICS,
    )
    note = (
        "Mean over seeds ± standard deviation. The gate: see the page of a task. Published: one unseeded run of the "
        "same model on the full published data (Jain & Wallace 2019, the authors' result files)."
    )
    return f"{markdown.table(headers, rows)}\n\n{note}"


DIAGNOSTICS = ("confidence", "gradient-mass-bottom-half")
"""What is recorded of a trained model beside its performance; see `training.diagnostics`."""


def _published(table: Table) -> str:
    if table.training != "standard":
        return markdown.NOTHING
    return number(performance().get((table.task, table.model, table.performance_measure)))


def _attention(checks: Iterable[ModelCheck]) -> str:
    rows = []
    for check in checks:
        if check.attention in CONTROLS and check.loss is not None:
            rows.append(
                (
                    check.task,
                    check.encoder,
                    check.training,
                    check.attention,
                    with_interval(check.accuracy, check.low, check.high),
                    with_interval(check.loss, check.loss_low, check.loss_high),
                    _verdict(check.loss_low, check.loss_high, "matters", "no difference shown", "hurts"),
                )
            )
    headers = ("task", "encoder", "training", "instead of learned", "accuracy", "what is lost", "learned attention")
    return markdown.table(headers, rows) if rows else ""


def _partial(checks: Iterable[ModelCheck]) -> str:
    rows = [
        (
            check.task,
            check.model,
            check.training,
            with_interval(check.accuracy, check.low, check.high),
            number(check.query_only),
            with_interval(check.gain, check.gain_low, check.gain_high),
            _worth(check.gain_low, check.gain_high),
        )
        for check in checks
        if check.query_only is not None
    ]
    headers = ("task", "model", "training", "accuracy", "query alone", "what the text adds", "the text")
    return markdown.table(headers, rows) if rows else ""


def _worth(low: float | None, high: float | None) -> str:
    if low is not None and high is not None and low > 0 and high < LITTLE:
        return "**adds little**"
    return _verdict(low, high, "matters", "no difference shown", "hurts")


def _verdict(low: float | None, high: float | None, above: str, around: str, below: str) -> str:
    if low is None or high is None:
        return markdown.NOTHING
    return above if low > 0 else below if high < 0 else around


def _mean_and_spread(values: Sequence[float]) -> str:
    if not values:
        return markdown.NOTHING
    mean = number(float(np.mean(values)))
    return mean if len(values) == 1 else f"{mean} ± {number(float(np.std(values, ddof=1)))}"
