"""The page that ranks the metrics: against known truth, under other operators, with each other; methods likewise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from faithboard.report import layout, markdown
from faithboard.report.markdown import number
from faithboard.report.taus import compared, related, swapped_cell, tau_cell, without_tau
from faithboard.report.truth import truth_section
from faithboard.stats.agreed import MethodAgreement, MetricAgreement
from faithboard.stats.board import Board, Table

PAGE = "metrics.md"
"""Name of the page's file."""

INTRODUCTION = """
A benchmark of explanations is as good as its metrics, so the metrics are ranked too. Numbers here are Kendall's tau-b
where nothing else is said: 1 for the same order and the same ties, 0 for no relation, -1 for the opposite order, and
less than 1 in size where one of the two ties what the other does not. Between metrics it is taken over the
explanation methods that both rank (`random` and other reference rows are left out), every metric turned so that better
is higher; intervals are 95 % bootstrap intervals over examples, conditional on the trained models and on these methods.
With few methods tau is coarse: of four, one swapped pair costs 0.33.
""".strip()

OPERATORS = """
Erasure metrics take words away, and there are several ways to do it. The question is the same, so the ranking of the
methods should be too: where it is not, the metric measures what the operator does to the model's input as well.
`swapped` counts the pairs of methods that the paired tests tell apart under both operators, and in how many of them the
other method is the better one.
""".strip()

METRICS = """
Metrics that agree everywhere measure one thing, and one of them suffices; metrics that disagree measure several, and no
single number says which method is best. Mean over the trained models that have both; each model is below. Agreement
with marked tokens is known truth where they were planted and plausibility elsewhere: two rows.
""".strip()

METHODS = """
Two methods that order the words of a text alike tell one story twice. Mean over examples of the tau-b between the
magnitudes of the scores on the same text and model; intervals are in `method-agreement.jsonl.gz`.
""".strip()


def metrics_page(board: Board) -> str:
    """The Markdown of a suite's page of metrics, heading included; empty where nothing can be compared."""
    parts = [*truth_section(board), *_operators(board), *_metrics(board), *_methods(board)]
    if not parts:
        return ""
    first = board.tables[0]
    return "\n\n".join([f"# {first.suite} v{first.suite_version}: metrics", INTRODUCTION, *parts])


def operator_warnings(board: Board, table: Table) -> list[str]:
    """One sentence for each metric of a table whose ranking is another one under another operator."""
    by_base: dict[str, list[MetricAgreement]] = defaultdict(list)
    for one in related(board, "operator", table):
        by_base[_base(one)].append(one)
    return [_warning(base, group) for base, group in by_base.items() if any(one.reversed for one in group)]


def _warning(base: str, group: Sequence[MetricAgreement]) -> str:
    swapped = sum(one.reversed > 0 for one in group)
    worst = max(group, key=lambda one: one.reversed / max(one.decided, 1))
    return (
        f"**The ranking by {base} depends on how words are taken away**: in {swapped} of {len(group)} pairs of "
        f"operators, methods that both tell apart are swapped. Most are between `{worst.a}` and `{worst.b}`: "
        f"{swapped_cell(worst)} pairs of methods."
    )


def _operators(board: Board) -> list[str]:
    rows, each, warned = [], [], []
    for table in board.tables:
        name = layout.model_name(board, table)
        by_base: dict[str, list[MetricAgreement]] = defaultdict(list)
        for one in related(board, "operator", table):
            by_base[_base(one)].append(one)
            each.append((name, f"`{one.a}`", f"`{one.b}`", tau_cell(one), swapped_cell(one), f"{one.methods}"))
        for base, group in by_base.items():
            known = [one for one in group if one.tau is not None]
            lowest = min(known, key=lambda one: one.tau or 0.0, default=None)
            between = f"`{lowest.a}` and `{lowest.b}`" if lowest else markdown.NOTHING
            mean = number(float(np.mean([one.tau or 0.0 for one in known]))) if known else markdown.NOTHING
            tau = tau_cell(lowest) if lowest else markdown.NOTHING
            rows.append((name, base, mean, tau, between, swapped_cell(*group)))
        warned += [f"- {name}: {sentence}" for sentence in operator_warnings(board, table)]
    if not rows:
        return []
    body = markdown.table(("trained model", "metric", "mean tau", "lowest tau", "between", "swapped"), rows)
    pairs = markdown.table(("trained model", "metric", "and", "tau", "swapped", "methods"), each, right=(5,))
    said = "\n".join(warned) or "No pair of methods that two operators both tell apart is swapped between them."
    undefined = without_tau(one for table in board.tables for one in related(board, "operator", table))
    folded = markdown.folded("Every two operators", pairs)
    return ["## Does the ranking depend on the operator?", OPERATORS, said, body, folded, *undefined]


def _metrics(board: Board) -> list[str]:
    by_pair: dict[tuple[str, str], list[float]] = defaultdict(list)
    by_table: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    marked = {(one.table, one.metric) for one in board.standings if one.metric_kind == "rationale"}
    planted = {table.key for table in board.tables if table.has_known_truth}

    def label(one: MetricAgreement, metric: str) -> str:
        if (one.table, metric) not in marked:
            return f"`{metric}`"
        return f"`{metric}` ({'known truth' if one.table in planted else 'plausibility'})"

    for one in compared(board):
        # Truth that tells no methods apart that the metric tells apart says nothing of it, as in the section above.
        undecided = one.relation == "truth" and not one.decided
        if one.tau is not None and not undecided:
            pair = label(one, one.a), label(one, one.b)
            by_pair[pair].append(one.tau)
            by_table[one.table][pair] = one.tau
    if not by_pair:
        return []
    mean = _matrix({pair: float(np.mean(taus)) for pair, taus in by_pair.items()})
    parts = ["## Metrics with metrics", METRICS, mean]
    for table in board.tables:
        if table.key in by_table and len(by_table) > 1:
            parts.append(markdown.folded(layout.model_name(board, table), _matrix(by_table[table.key])))
    return [*parts, *without_tau(compared(board))]


def _methods(board: Board) -> list[str]:
    parts = []
    for table in board.tables:
        own = [one for one in board.method_agreement if one.table == table.key]
        if any(one.tau is not None for one in own):
            order = [f"`{method}`" for method in layout.methods(board, table)]
            body = _matrix({(f"`{one.a}`", f"`{one.b}`"): one.tau for one in own if one.tau is not None}, order)
            parts.append(markdown.folded(layout.model_name(board, table), "\n\n".join([body, *_constant(own)])))
    return ["## Methods with methods", METHODS, *parts] if parts else []


def _constant(own: Iterable[MethodAgreement]) -> list[str]:
    """Pairs without a tau on some examples."""
    lines = [
        f"- `{one.a}` and `{one.b}`: {markdown.percent(one.undefined_share)} undefined, all words scored alike by one."
        for one in own
        if one.undefined_share
    ]
    return ["\n".join(lines)] if lines else []


def _matrix(taus: Mapping[tuple[str, str], float], order: Sequence[str] = ()) -> str:
    """A triangle: rows named and numbered, columns by number alone, since names are long."""
    known = {name for pair in taus for name in pair}
    names = [name for name in order if name in known]
    names += sorted(known - set(names), key=lambda name: name.replace("`", ""))
    either = {**taus, **{(b, a): tau for (a, b), tau in taus.items()}}
    rows = [
        (
            str(at + 1),
            name,
            *(number(either.get((name, other)), 2) if place < at else "" for place, other in enumerate(names[:-1])),
        )
        for at, name in enumerate(names)
    ]
    headers = ("", "", *(str(at + 1) for at in range(len(names) - 1)))
    return markdown.table(headers, rows, right=[0, *range(2, len(headers))])


def _base(one: MetricAgreement) -> str:
    """What two metrics of one name under two operators are called without them."""
    return one.a if one.b.startswith(one.a) else one.b if one.a.startswith(one.b) else one.a.rpartition("-")[0]
