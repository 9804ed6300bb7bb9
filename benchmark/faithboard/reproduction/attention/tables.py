"""Tables of a reproduction as Markdown, which reads well in a terminal too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from faithboard.report import markdown
from faithboard.report.markdown import number, percent, with_interval
from faithboard.reproduction.attention.claims import Claim
from faithboard.reproduction.attention.comparing import FAR
from faithboard.reproduction.attention.lines import (
    DatasetLine,
    DivergenceLine,
    EvidenceLine,
    LengthLine,
    ModelLine,
    PermutationLine,
    TauLine,
)
from faithboard.reproduction.parts import signed

TABLE_2 = ("attention-gradient", "attention-loo")


def models(lines: Iterable[ModelLine]) -> str:
    """How good every model is, beside the published one."""
    rows = [
        (
            line.task + (f" (for {line.published_task})" if line.published_task not in ("", line.task) else ""),
            line.model,
            f"{line.measure} {' / '.join(map(number, line.performance)) or markdown.NOTHING}",
            number(line.published_performance),
            "passed" if line.gate_passed else "**not passed**",
            f"{line.examples:,}",
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
        "examples",
        "training rows",
        "vectors",
        "to be kept in mind",
    )
    return markdown.table(headers, rows, right=(3, 5, 6))


def datasets(lines: Iterable[DatasetLine]) -> str:
    """Table 1."""
    rows = []
    for line in lines:
        performance = line.quantity.startswith("BiLSTM")
        shown = [number(value, 3 if performance else 0) for value in (line.here, line.published)]
        difference = signed(line.difference) if performance else f"{line.difference:+.1%}"
        rows.append((line.task, line.quantity, *shown, difference, line.verdict))
    return markdown.table(("task", "quantity", "here", "published", "difference", "verdict"), rows, right=(2, 3, 4))


def taus(lines: Iterable[TauLine], kept_out: Iterable[ModelLine]) -> str:
    """Table 2: our number, the published one, the difference and a verdict, cell by cell."""
    failing = {(line.task, line.model) for line in kept_out if line.reason}
    rows = [
        (
            line.task,
            line.label or "all",
            line.model + (" *" if (line.task, line.model) in failing else ""),
            line.pair,
            _tau(line.mean, line.sd),
            _share(line.significant),
            _tau(line.published_mean, line.published_sd),
            _share(line.published_significant),
            signed(line.difference),
            line.verdict or markdown.NOTHING,
            f"{line.n:,}",
            number(line.seed_spread),
            _share(line.untestable or None),
            _share(line.undefined or None),
        )
        for line in lines
    ]
    headers = (
        "task",
        "predicted",
        "model",
        "tau of",
        "here",
        "p <= .05",
        "published",
        "p <= .05",
        "difference",
        "verdict",
        "n",
        "over seeds",
        "too short",
        "undefined",
    )
    return markdown.table(headers, rows, right=(4, 5, 6, 7, 8, 10, 11, 12, 13))


def far_cells(lines: Iterable[TauLine], beside: Sequence[ModelLine]) -> str:
    """A list of the cells that differ by more than `FAR` from the published tau, with what may explain it."""
    of = {(line.task, line.model): line for line in beside}
    rows = []
    for line in lines:
        if line.difference is None or abs(line.difference) <= FAR:
            continue
        model = of[line.task, line.model]
        told = f"vectors {model.vectors}, {model.training_rows:,} training rows, {_seeds(line)}"
        if model.reservations:
            told += f"; {model.reservations}"
        if model.reason:
            told += f"; {model.reason}"
        rows.append(
            f"- {line.task}, {line.model}, {line.pair}, {line.label or 'all'}: {number(line.mean)} here, "
            f"{number(line.published_mean)} published ({signed(line.difference)}): {told}"
        )
    return "\n".join(rows) or f"No cell differs by more than {FAR}."


def evidence(claim: Claim, lines: Iterable[EvidenceLine]) -> str:
    """The numbers behind a claim; empty when there are none."""
    rows = [
        (
            line.task,
            line.model,
            line.what,
            with_interval(line.value, line.low, line.high),
            number(line.threshold),
            number(line.published),
            f"{line.n:,}",
            "holds" if line.holds else "does not hold",
        )
        for line in lines
        if line.claim == claim.name
    ]
    headers = ("task", "model", "what", "here", "held against", "published", "n", "verdict")
    return markdown.table(headers, rows, right=(4, 5, 6)) if rows else ""


def permutations(lines: Iterable[PermutationLine]) -> str:
    """Median change by the largest weight."""
    rows = [
        (
            line.task,
            line.model,
            line.label or "all",
            "any" if (line.low, line.high) == (0.0, 1.0) else f"{line.low:.2f} to {line.high:.2f}",
            number(line.median),
            percent(line.share_small),
            f"{line.n:,}",
        )
        for line in lines
    ]
    headers = ("task", "model", "predicted", "largest weight", "median change", "share below 0.05", "n x seeds")
    return markdown.table(headers, rows, right=(4, 5, 6))


def divergences(lines: Iterable[DivergenceLine]) -> str:
    """Largest JS divergence that keeps the output, beside the published distribution."""
    rows = [
        (
            line.task,
            line.model,
            line.label or "all",
            line.profile,
            with_interval(line.mean, line.low, line.high),
            number(line.median),
            percent(line.share),
            number(line.published_mean),
            number(line.published_median),
            _share(line.published_share),
            percent(line.accepted),
            f"{line.n:,}",
        )
        for line in lines
    ]
    headers = (
        "task",
        "model",
        "predicted",
        "constants",
        "mean",
        "median",
        ">= 0.6",
        "published mean",
        "median",
        ">= 0.6",
        "accepted",
        "n",
    )
    return markdown.table(headers, rows, right=(5, 6, 7, 8, 9, 10, 11))


def lengths(lines: Iterable[LengthLine]) -> str:
    """tau by quarter of length."""
    rows = [
        (
            line.task,
            line.model,
            line.pair,
            f"{line.shortest} to {line.longest}",
            number(line.mean),
            number(line.excess_variance, 4),
            percent(line.significant),
            percent(line.not_significant),
            percent(line.untestable),
            percent(line.undefined),
            f"{line.n:,}",
        )
        for line in lines
    ]
    headers = (
        "task",
        "model",
        "tau of",
        "words",
        "mean",
        "excess variance",
        "significant",
        "not significant",
        "not testable",
        "undefined",
        "n",
    )
    return markdown.table(headers, rows, right=range(4, 11))


def _tau(mean: float | None, sd: float | None) -> str:
    return markdown.NOTHING if mean is None else f"{number(mean, 2)} ± {number(sd, 2)}"


def _share(share: float | None) -> str:
    return markdown.NOTHING if share is None else f"{share:.0%}"


def _seeds(line: TauLine) -> str:
    if line.seed_spread is None:
        return "one seed"
    return f"standard deviation over seeds {number(line.seed_spread)}"
