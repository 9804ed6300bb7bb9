"""The page about the models: how good they are, and whether attention and the explained text matter at all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from faithboard.deviations import deviations
from faithboard.published import performance
from faithboard.report import layout, markdown
from faithboard.report.markdown import number
from faithboard.report.model_checks import attention_table, text_table
from faithboard.report.page import GATE
from faithboard.report.training_costs import training_cost_table
from faithboard.stats.board import Board, Table

DIAGNOSTICS = ("confidence", "gradient-mass-bottom-half")
"""What is recorded of a trained model beside its performance; see `training.diagnostics`."""

PERFORMANCE = """
Mean over seeds ± standard deviation. Confidence: mean probability of the predicted class. Gradient mass on the bottom
half: the share of the gradient's length that lies on the half of the words of a text that have the least of it.
Published: one unseeded run of the same architecture on the authors' own split of the full data, with 300-d vectors
(bAbI: 50-d) and the epochs of the paper (Jain & Wallace 2019, the authors' result files).
""".strip()

SETTINGS = """
What is not as the profile of the task has it (for a task that is not built in: as the defaults have it). Of masking
trainings: k, the share of a text's words that are masked, what stands in their place, and lambda, the weight of the
divergence.
""".strip()

LINES = """
The pages are made of the lines beside them. Files of lines about methods, as `rows.jsonl` is, are empty here.
""".strip()


def models_page(board: Board) -> str:
    """The Markdown of a suite's page of models, heading included."""
    first = board.tables[0]
    parts = [f"# {first.suite} v{first.suite_version}: models", f"Seeds: {', '.join(map(str, first.seeds))}."]
    parts += [_performance(board), "## Settings", _settings(board)]
    if attention := attention_table(board.checks):
        parts += ["## Does attention matter?", attention]
    if text := text_table(board.checks):
        parts += ["## Does the text matter?", text]
    if costs := training_cost_table(board):
        parts += ["## Cost of training", costs]
    return "\n\n".join(parts)


def models_index(board: Board) -> str:
    """The Markdown of the README of a suite in which nothing was explained, heading included."""
    first = board.tables[0]
    tasks = list(dict.fromkeys(layout.task_name(board, table) for table in board.tables))
    below = [f"{table.task} {table.model} {table.training}" for table in board.tables if not table.gate_passed]
    gate = f"not passing the accuracy gate: {', '.join(below)}" if below else "all pass the accuracy gate"
    probed = sorted({probe.task for probe in board.probes})
    parts = [
        f"# {first.suite} v{first.suite_version}",
        "How good are these models, and do attention and the text matter to them? Nothing was explained, so no method "
        f"is ranked here. Seeds: {', '.join(map(str, first.seeds))}.",
        f"- [models.md](models.md): {len(board.tables)} models of {len(tasks)} tasks ({', '.join(tasks)}); {gate}.",
    ]
    if probed:
        parts[-1] += f"\n- Probes of the models: {', '.join(f'[{task}]({task}.md)' for task in probed)}."
    return "\n\n".join([*parts, LINES])


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
    return "\n\n".join([markdown.table(headers, rows), *_reasons(board), PERFORMANCE, GATE])


def _reasons(board: Board) -> list[str]:
    """Why a model is missing from the means, or would not be ranked."""
    lines = [
        f"- {layout.task_name(board, table)}, {table.model}, {table.training}: {markdown.plain(table.reason)}."
        for table in board.tables
        if table.reason
    ]
    return ["\n".join(lines)] if lines else []


def _settings(board: Board) -> str:
    rows = [
        (layout.task_name(board, table), table.model, table.training, said)
        for table in board.tables
        if (said := deviations(table.config, table.model, table.training, table.task))
    ]
    if not rows:
        return "Every reference model has the settings of its task's profile."
    return f"{SETTINGS}\n\n{markdown.table(('task', 'model', 'training', 'settings'), rows)}"


def _published(table: Table) -> str:
    if table.training != "standard":
        return markdown.NOTHING
    return number(performance().get((table.task, table.model, table.performance_measure)))


def _mean_and_spread(values: Sequence[float]) -> str:
    if not values:
        return markdown.NOTHING
    mean = number(float(np.mean(values)))
    return mean if len(values) == 1 else f"{mean} ± {number(float(np.std(values, ddof=1)))}"
