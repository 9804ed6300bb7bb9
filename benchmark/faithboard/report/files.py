"""A board as files: Markdown pages with the JSON lines they are a pure function of.

    leaderboards/<suite>-v<version>/README.md           the index: every task, and the methods over tasks
    leaderboards/<suite>-v<version>/models.md           the models: performance, does attention matter, does the text
    leaderboards/<suite>-v<version>/metrics.md          the metrics: against known truth, operators, each other
    leaderboards/<suite>-v<version>/<task>.md           one page per task
    leaderboards/<suite>-v<version>/tables.jsonl        trained models, one line each
    leaderboards/<suite>-v<version>/rows.jsonl          standings
    leaderboards/<suite>-v<version>/comparisons.jsonl.gz   paired comparisons of every two methods
    leaderboards/<suite>-v<version>/costs.jsonl         steps, speed and memory of every method
    leaderboards/<suite>-v<version>/probes.jsonl        what was asked of the models themselves
    leaderboards/<suite>-v<version>/checks.jsonl        accuracy of models and their controls, and on the query alone
    leaderboards/<suite>-v<version>/sanity.jsonl        does an explanation change with the model
    leaderboards/<suite>-v<version>/method-agreement.jsonl.gz, metric-agreement.jsonl   tau of every two of them

Everything generated stands between markers; what people write around them stays.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from faithboard.errors import FaithboardError, StoreError
from faithboard.records import _Json
from faithboard.report import layout, markdown
from faithboard.report.agreement import PAGE as METRICS_PAGE
from faithboard.report.agreement import metrics_page
from faithboard.report.grids import grid_table
from faithboard.report.index import index_page, leaders
from faithboard.report.keeping import together
from faithboard.report.markdown import number
from faithboard.report.models import models_page
from faithboard.report.page import task_page
from faithboard.stats.agreed import MethodAgreement, MetricAgreement, SanityCheck
from faithboard.stats.board import Board, Comparison, Cost, ProbeSummary, Standing, Table
from faithboard.stats.checks import ModelCheck
from faithboard.stats.sanity import CONTROL
from faithboard.store import write_atomically

BLOCK = "leaderboard"
"""Name of the generated block of a page."""

TABLES, ROWS, COMPARISONS = "tables.jsonl", "rows.jsonl", "comparisons.jsonl.gz"
COSTS, PROBES, CHECKS = "costs.jsonl", "probes.jsonl", "checks.jsonl"
SANITY, METHODS, METRICS = "sanity.jsonl", "method-agreement.jsonl.gz", "metric-agreement.jsonl"

COMPRESSED = ".gz"
"""Ending of the lines that grow with the square of the number of methods: tens of megabytes as text."""

R = TypeVar("R", bound=_Json)


def folder_name(table: Table) -> str:
    """`quick-v1`: two versions of a suite never share a folder."""
    return f"{table.suite}-v{table.suite_version}"


def render(board: Board) -> dict[str, str]:
    """File name -> generated Markdown of every page of one suite, without the markers."""
    explained = {standing.task for standing in board.standings} | {probe.task for probe in board.probes}
    tasks = sorted({table.task for table in board.tables} & explained)
    found = {"README.md": index_page(board), "models.md": models_page(board)}
    if text := metrics_page(board):
        found[METRICS_PAGE] = text
    return found | {f"{task}.md": task_page(board, task) for task in tasks}


def pages(board: Board, folder: Path) -> dict[Path, str]:
    """Path -> full text of every page as `write` would leave it: generated blocks new, text around them kept.

    Raises FaithboardError for a page whose markers are broken.
    """
    found = {}
    for name, body in render(board).items():
        path = folder / name
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
        found[path] = markdown.with_block(before, BLOCK, body, str(path))
    return found


def readme_block(board: Board) -> str:
    """The leading table of one model for a project's README, and the leaders of every task, with links into
    `leaderboards/`."""
    shown = next((table for table in board.tables if table.training != CONTROL), board.tables[0])
    measure = shown.performance_measure
    reached = ", ".join(number(value) for value in shown.performance.get(measure, []))
    return "\n\n".join(
        [
            f"{shown.task}, {shown.model} ({measure} {reached}), suite {shown.suite} v{shown.suite_version}:",
            *(grid_table(grid) for _, grid in layout.parts(board, shown)[:1]),
            "Every task of the suite, with the methods that share rank 1 in its leading metric:",
            leaders(board, f"leaderboards/{folder_name(shown)}/"),
        ]
    )


def with_pages(board: Board, root: Path) -> Board:
    """The board with the trained models that are on its pages below `root` and not on it; see `keeping.together`."""
    folder = root / folder_name(board.tables[0]) if board.tables else root
    return together(board, read(folder)) if (folder / TABLES).is_file() else board


def write(board: Board, root: Path) -> list[Path]:
    """Write the pages and lines of one suite below `root`, each atomically; returns the pages, the index first.
    Pages of tasks that the board no longer has lose what was generated, and go when nothing else is left of them.
    Raises FaithboardError for broken markers, before anything is written, and StoreError for a folder that cannot be.
    """
    if not board.tables:
        return []
    folder = root / folder_name(board.tables[0])
    found = pages(board, folder)
    left_over = _left_over(folder, found)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder} cannot be made ({error.strerror}); choose another folder") from error
    records: tuple[tuple[str, Sequence[_Json]], ...] = (
        (TABLES, board.tables),
        (ROWS, board.standings),
        (COMPARISONS, board.comparisons),
        (COSTS, board.costs),
        (PROBES, board.probes),
        (CHECKS, board.checks),
        (SANITY, board.sanity),
        (METHODS, board.method_agreement),
        (METRICS, board.metric_agreement),
    )
    for name, lines in records:
        # What an earlier release wrote under the plain name would be read no more, and mislead.
        if name.endswith(COMPRESSED) and (plain := folder / name.removesuffix(COMPRESSED)).is_file():
            _remove(plain)
        text = "".join(f"{json.dumps(line.to_json(), ensure_ascii=False, allow_nan=False)}\n" for line in lines)
        _write(folder / name, text)
    for path, text in (found | left_over).items():
        if text:
            _write(path, text)
        else:
            _remove(path)
    return list(found)


def read(folder: Path) -> Board:
    """The board whose lines lie in a suite's folder. Raises FaithboardError naming a file or line that is broken."""
    return Board(
        list(_lines(folder / TABLES, Table)),
        list(_lines(folder / ROWS, Standing)),
        list(_lines(folder / COMPARISONS, Comparison)),
        list(_lines(folder / PROBES, ProbeSummary)),
        list(_lines(folder / COSTS, Cost)),
        list(_lines(folder / CHECKS, ModelCheck)),
        list(_lines_if_any(folder / SANITY, SanityCheck)),
        list(_lines_if_any(folder / METHODS, MethodAgreement)),
        list(_lines_if_any(folder / METRICS, MetricAgreement)),
    )


def _left_over(folder: Path, current: Container[Path]) -> dict[Path, str]:
    """Path -> what people wrote, of each page that was generated for a task that is gone."""
    found = {}
    for path in sorted(folder.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if path not in current and markdown.begin(BLOCK) in text:
            written = markdown.without_block(text, BLOCK, str(path)).strip()
            found[path] = f"{written}\n" if written else ""
    return found


def _lines_if_any(path: Path, record: type[R]) -> Iterator[R]:
    """The lines of a file that leaderboards of earlier releases do not have."""
    return _lines(path, record) if path.is_file() else iter(())


def _lines(path: Path, record: type[R]) -> Iterator[R]:
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.name.endswith(COMPRESSED) else content).decode()
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise FaithboardError(f"{path} cannot be read ({error}); `faithboard report` writes it") from error
    for at, line in enumerate(text.splitlines(), 1):
        try:
            yield record.from_json(json.loads(line))
        except (ValueError, TypeError, AttributeError) as error:
            raise FaithboardError(
                f"{path}, line {at}: not a {record.__name__} ({error}); `faithboard report` writes it anew"
            ) from error


def _write(path: Path, text: str) -> None:
    content = text.encode()
    if path.name.endswith(COMPRESSED):
        content = gzip.compress(content, mtime=0)  # the same bytes for the same lines
    write_atomically(path, lambda temporary: temporary.write_bytes(content))


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise StoreError(f"{path} is out of date and cannot be removed ({error.strerror}); remove it") from error
