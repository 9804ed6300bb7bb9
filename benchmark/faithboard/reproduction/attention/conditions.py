"""Under which conditions the numbers were made: the models, the data sets, and what may explain a cell far from print.

Markdown, as in `tables`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from faithboard.report import markdown
from faithboard.report.markdown import number
from faithboard.reproduction.attention.comparing import FAR, differ
from faithboard.reproduction.attention.lines import DatasetLine, ModelLine, TauLine, TriedLine
from faithboard.reproduction.parts import signed


def models(lines: Iterable[ModelLine]) -> str:
    """How good every model is, beside the published one."""
    rows = [
        (
            line.task + (f" (for {line.published_task})" if line.published_task not in ("", line.task) else ""),
            line.model,
            f"{line.measure} {_performance(line.performance) or markdown.NOTHING}",
            number(line.published_performance),
            "passed" if line.gate_passed else "**not passed**",
            f"{line.training_rows:,}",
            line.vectors,
            line.reservations or markdown.NOTHING,
        )
        for line in lines
    ]
    headers = (
        "task",
        "model",
        "test performance per seed",
        "published",
        "gate",
        "training rows",
        "vectors",
        "to be kept in mind",
    )
    return markdown.table(headers, rows, right=(3, 5))


def below_print(lines: Iterable[ModelLine]) -> str:
    """A list of the models, or of those of their seeds, that do much worse than in print; empty when none does."""
    rows = []
    for line in lines:
        theirs = line.published_performance
        if theirs is None:
            continue
        worse = [
            (seed, value)
            for seed, value in zip(line.seeds, line.performance, strict=True)
            if value < theirs and differ(value, theirs)
        ]
        if worse:
            seeds = "" if len(worse) == len(line.seeds) else f", seed {', '.join(str(seed) for seed, _ in worse)}"
            reached = _performance([value for _, value in worse])
            rows.append(
                f"- {line.task}, {line.model}{seeds}: {line.measure} {reached} here, {number(theirs)} published"
            )
    return "\n".join(rows)


def explained(lines: Iterable[ModelLine]) -> str:
    """How many of the test texts of each task are explained; empty when it is not known of any."""
    counts = {line.task: f"{line.task} {line.examples:,} of {line.test:,}" for line in lines if line.test is not None}
    return ", ".join(counts.values())


def datasets(lines: Iterable[DatasetLine]) -> str:
    """Table 1."""
    rows = []
    for line in lines:
        performance = line.quantity == "performance"
        quantity = f"BiLSTM, {line.of}" if performance else line.quantity + (f": {line.of}" if line.of else "")
        shown = [number(value, 3 if performance else 0) for value in (line.here, line.published)]
        difference = signed(line.difference) if performance else f"{line.difference:+.1%}"
        rows.append((line.task, quantity, *shown, difference, line.verdict))
    return markdown.table(("task", "quantity", "here", "published", "difference", "verdict"), rows, right=(2, 3, 4))


def reasons(lines: Sequence[DatasetLine]) -> str:
    """A list of why numbers of table 1 differ, each reason of a task once; empty when none does."""
    quantities: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        if line.why:
            own = quantities.setdefault((line.task, line.why), [])
            own += [line.quantity] if line.quantity not in own else []
    return "\n".join(f"- {task} ({', '.join(own)}): {why}" for (task, why), own in quantities.items())


def far_cells(lines: Iterable[TauLine], beside: Sequence[ModelLine], tried: Sequence[TriedLine] = ()) -> str:
    """A list of the cells that differ by more than `FAR` from the published tau, with what may explain it and what was
    tried."""
    of = {(line.task, line.model): line for line in beside}
    rows = []
    for line in filter(far, lines):
        rows.append(
            f"- {line.task}, {line.model}, {line.pair}, {line.label or 'all'}: {number(line.mean)} here, "
            f"{number(line.published_mean)} published ({signed(line.difference)}): "
            + "; ".join(_told(line, of[line.task, line.model]))
        )
        rows += [f"    - tried: {_tried(one)}" for one in tried if _cell(one) == _cell(line)]
    return "\n".join(rows) or f"No cell differs by more than {FAR}."


def _cell(line: TauLine | TriedLine) -> tuple[str, str, str, int | None]:
    return line.task, line.model, line.pair, line.predicted


def _tried(line: TriedLine) -> str:
    nearer = f"{number(line.mean)} ({signed(line.difference)})"
    if line.seed_spread is None:
        return f"{line.settings}: {nearer}, one seed"
    return f"{line.settings}: {nearer}, {len(line.seeds)} seeds, standard deviation {number(line.seed_spread)}"


def far(line: TauLine) -> bool:
    """Whether a cell differs by more than `FAR` from the published one."""
    return line.difference is not None and differ(line.difference, 0.0, FAR)


def _told(line: TauLine, model: ModelLine) -> Iterator[str]:
    theirs = model.published_performance
    if theirs is not None and any(differ(value, theirs) for value in model.performance):
        yield f"{model.measure} {_performance(model.performance)} here, {number(theirs)} published"
    spread = "one seed" if line.seed_spread is None else f"standard deviation over seeds {number(line.seed_spread)}"
    yield f"vectors {model.vectors}, {model.training_rows:,} training rows, {spread}"
    yield from (said for said in (model.reservations, model.reason) if said)


def _performance(values: Iterable[float]) -> str:
    return " / ".join(map(number, values))
