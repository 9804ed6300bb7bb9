"""From the results of a suite to the lines of this reproduction. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithboard.published import saliency_guided
from faithboard.reproduction.lines import SuiteLine
from faithboard.reproduction.saliency_guided.claims import evidence_lines
from faithboard.reproduction.saliency_guided.curves import curve_lines
from faithboard.reproduction.saliency_guided.lines import Reproduction
from faithboard.reproduction.saliency_guided.measured import Measured, measured
from faithboard.reproduction.saliency_guided.models import accuracy_lines, missing_lines, model_line
from faithboard.reproduction.saliency_guided.shares import share_lines
from faithboard.reproduction.saliency_guided.values import baseline_lines, difference_lines, value_lines
from faithboard.reproduction.stored import failures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithboard.results import Results
    from faithboard.suites import Suite


def reproduction_of(results: Results, suite: Suite, made_of: str) -> Reproduction:
    """Every line but those of figures."""
    groups = sorted(measured(results), key=_place)
    models = [model_line(one, results) for group in groups for one in group]
    passing = {(line.task, line.model, line.training) for line in models if not line.reason}
    published = saliency_guided()
    differences = [line for group in groups for line in difference_lines(group, published)]
    baselines = [line for group in groups for line in baseline_lines(group, published)]
    accuracies = [line for group in groups for line in accuracy_lines(group, results.predictions)]
    return Reproduction(
        suite=[
            SuiteLine(
                name=results.suite,
                version=results.version,
                seeds=list(results.seeds),
                description=suite.description,
                notes=list(failures(results)),
                made_of=made_of,
            )
        ],
        models=models,
        missing=missing_lines(groups, suite),
        values=[line for group in groups for line in value_lines(group, published)],
        differences=differences,
        equal_epochs=[line for group in groups for line in difference_lines(group, published, equal_epochs=True)],
        baselines=baselines,
        accuracies=accuracies,
        shares=[line for group in groups for line in share_lines(group)],
        evidence=evidence_lines(passing, differences, accuracies, baselines),
        curves=[line for group in groups for line in curve_lines(group)],
    )


def _place(group: Sequence[Measured]) -> tuple[int, str, str]:
    """The paper's tasks come first, in its order."""
    task = group[0].task
    order = [*dict.fromkeys(known for known, *_ in saliency_guided()), task]
    return order.index(task), task, group[0].model
