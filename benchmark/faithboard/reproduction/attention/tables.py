"""Tables of a reproduction as Markdown, which reads well in a terminal too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from faithboard.probes.agreement import PAIRS
from faithboard.report import markdown
from faithboard.report.markdown import number, percent, with_interval
from faithboard.reproduction.attention.claims import Claim
from faithboard.reproduction.attention.lines import (
    DivergenceLine,
    EvidenceLine,
    LengthLine,
    ModelLine,
    PermutationLine,
    TauLine,
)
from faithboard.reproduction.attention.verdicts import line_verdict
from faithboard.reproduction.parts import signed

TABLE_2 = ("attention-gradient", "attention-loo")


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
            line_verdict(line),
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


def top_k(lines: Iterable[TauLine], models: Sequence[ModelLine]) -> str:
    """Top-k agreement of every pair over all texts; empty when none was asked."""
    values = {
        (line.task, line.model, line.pair): line.top_k
        for line in lines
        if line.predicted is None and line.top_k is not None
    }
    rows = [
        (
            line.task,
            line.model,
            str(line.k),
            number(line.length, 1),
            *(number(values.get((line.task, line.model, pair))) for pair in PAIRS),
            f"{line.examples:,}",
        )
        for line in models
        if any((line.task, line.model, pair) in values for pair in PAIRS)
    ]
    headers = ("task", "model", "k", "mean T", *PAIRS, "texts")
    return markdown.table(headers, rows, right=range(2, 8)) if rows else ""


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
