"""The page of one task: what was measured, on which data and models, and who stands where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from faithboard.report import layout, markdown
from faithboard.report.markdown import number, percent
from faithboard.report.section import section
from faithboard.stats.board import Board, Table
from faithboard.stats.sanity import CONTROL
from faithboard.task import SPLITS

HOW_TO_READ = """\
Ranks come from paired tests on the same examples and the same weights: a method's rank is 1 + the number of methods
that are significantly better (sign-flip test, Holm-adjusted p <= 0.05 over all pairs of the table, and the same sign in
every seed). `2=` is a tie; `(2-4)` is the range of ranks that the tests leave open. A large difference is a tie too
where it is 0 or of the other sign in a seed: `p <= 0.05, but not in every seed`. Values are means over examples with
95 % bootstrap intervals, conditional on the trained models. Arrows point to the better end."""

GATE = """\
The gate: the one-sided 95 % bootstrap bound of balanced accuracy above chance (of accuracy above the most
frequent answer, where candidates are chosen) on the test split, for every seed."""


def task_page(board: Board, task: str) -> str:
    """The Markdown of one task, heading included."""
    tables = [table for table in board.tables if table.task == task]
    first = tables[0]
    parts = [f"# {first.suite} v{first.suite_version}: {task}", _facts(board, tables), _models(tables)]
    parts += [section(board, table) for table in tables if table.training != CONTROL]
    parts += ["## How to read this", HOW_TO_READ]
    return "\n\n".join(parts)


def _facts(board: Board, tables: Sequence[Table]) -> str:
    first = tables[0]
    seeds = ", ".join(map(str, first.seeds))
    devices = ", ".join(sorted({table.device or "unknown" for table in tables}))
    lines = [f"- Suite: {first.suite}, version {first.suite_version}; seeds: {seeds}; device: {devices}"]
    explained = {s.n + s.excluded for s in board.standings if s.task == first.task and s.n}
    if explained:
        lines.append(f"- Explained: {max(explained):,} test examples, right and wrong predictions alike")
    parts = ["\n".join(lines)]
    for table in {(table.task_version, table.fingerprint): table for table in tables}.values():
        name = f"**{layout.UNVERIFIED}**" if layout.unverified(table) else f"`{table.fingerprint_name}`"
        parts.append(
            f"Data: {table.task}, version {table.task_version}, {name} (fingerprint `{table.fingerprint[:16]}`)"
        )
        if "splits" in table.data:
            parts.append(_rows_used(table.data["splits"], table.data.get("published_rows", {})))
    return "\n\n".join(parts)


def _rows_used(splits: Mapping[str, Mapping[str, Any]], published: Mapping[str, int]) -> str:
    rows = [
        (
            split,
            f"{published[split]:,}" if split in published else markdown.NOTHING,
            f"{counts['here']:,}",
            f"{counts['excluded_short'] + counts['excluded_long']:,}",
            f"{counts['used']:,}",
            f"{counts['truncated']:,}",
            f"{counts['excluded_rule']:,}",
        )
        for split, counts in ((split, splits[split]) for split in SPLITS if split in splits)
    ]
    headers = ("split", "published", "here", "too short or long", "used", "truncated", "dropped by rule")
    return markdown.table(headers, rows, right=range(1, 7))


def _vectors(table: Table) -> str:
    coverage = table.data.get("token_coverage")
    return table.vectors if coverage is None else f"{table.vectors} ({percent(coverage)} of the training tokens)"


def _models(tables: Sequence[Table]) -> str:
    rows = []
    for table in tables:
        measure = table.performance_measure
        gate = markdown.NOTHING
        if table.gate:
            sign = ">" if table.gate["bound"] > table.gate["threshold"] else "<="
            gate = f"{number(table.gate['bound'])} {sign} {number(table.gate['threshold'])}"
        rows.append(
            (
                table.model,
                table.training,
                _vectors(table),
                f"{measure} {' / '.join(number(value) for value in table.performance.get(measure, [])) or '-'}",
                f"{gate} ({'passed' if table.gate_passed else '**not passed**'})",
                markdown.NOTHING if table.share_correct is None else percent(table.share_correct),
            )
        )
    headers = ("model", "training", "vectors", "test performance per seed", "accuracy gate", "explained ones right")
    return f"## Models\n\n{markdown.table(headers, rows)}\n\n{GATE}"
