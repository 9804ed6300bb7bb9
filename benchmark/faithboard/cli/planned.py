"""A plan as text: what will run, what is stored, what will not and why, and what each part costs."""

from __future__ import annotations

import textwrap

from tabulate import tabulate

from faithboard.plan import Plan, PlannedExplanation

SPELLED_OUT = 3
"""Metrics that a line names; a longer list stands below the table, once, and lines refer to it."""


def summary(plan: Plan) -> str:
    """One line: how much of the plan is still to be done."""
    train = sum(job.state == "train" and not job.idle for job in plan.jobs)
    probes = sum(one.method is None and one.state == "score" for job in plan.jobs for one in job.explanations)
    parts = [
        f"{train} of {len(plan.jobs)} models to train",
        f"{plan.count('run')} explanations to compute",
        f"{plan.count('score') - probes} to score again",
        *([f"{probes} to probe"] if probes else []),
        f"{plan.count('stored')} stored",
    ]
    for state in ("failed", "unsupported", "skipped"):
        if plan.count(state):
            parts.append(f"{plan.count(state)} {state}")
    if not train and not plan.count("run") and not plan.count("score"):
        done = f"{plan.suite.title}: nothing to train, explain or score; {plan.count('stored')} explanations are stored"
        return ", ".join([done, *parts[4:]])
    return f"{plan.suite.title}: " + ", ".join(parts)


def table(plan: Plan) -> str:
    """Every job and explanation with its state and planned token steps."""
    lists = MetricLists()
    rows: list[tuple[str, str, str, str, str, str]] = []
    for job in plan.jobs:
        rows.append((job.title, job.state, _or_unknown(job.train_steps), "", "", job.reason))
        rows += [_row(one, lists) for one in job.explanations]
    headers = ("part", "state", "forward + backward steps", "scoring steps, at most", "to score", "reason")
    text = tabulate(
        rows, headers, tablefmt="simple", disable_numparse=True, colalign=("left", "left", "right", "right")
    )
    notes = [*plan.inapplicable, f"budget: {plan.suite.budget:,} token steps per explanation"]
    return "\n".join([text, "", *lists.legend(), *notes, summary(plan)])


class MetricLists:
    """The long lists of metrics of a plan, each under a letter: most explanations are scored by the same ones."""

    def __init__(self) -> None:
        self._letters: dict[tuple[str, ...], str] = {}

    def cell(self, names: tuple[str, ...]) -> str:
        if len(names) <= SPELLED_OUT:
            return ", ".join(names)
        letter = self._letters.setdefault(names, _letter(len(self._letters)))
        return f"{len(names)} metrics ({letter})"

    def legend(self) -> list[str]:
        lines = (f"({letter}) {', '.join(names)}" for names, letter in self._letters.items())
        wrapped = [textwrap.fill(line, 100, subsequent_indent="    ", break_on_hyphens=False) for line in lines]
        return [*wrapped, ""] if wrapped else []


def _letter(index: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    more, last = divmod(index, len(letters))
    return (_letter(more - 1) if more else "") + letters[last]


def _row(one: PlannedExplanation, lists: MetricLists) -> tuple[str, str, str, str, str, str]:
    steps = _or_unknown(None if one.forward is None or one.backward is None else one.forward + one.backward)
    return (
        f"- {one.name}",
        "explain" if one.state == "run" else one.state,
        steps,
        _steps(one.scoring) if one.scoring else "",
        lists.cell(tuple(metric.name for metric in one.metrics)),
        one.reason,
    )


def _or_unknown(steps: float | None) -> str:
    return "unknown" if steps is None else _steps(steps)


def _steps(steps: float) -> str:
    return f"{steps:,.0f}"
