"""Tables of this reproduction as Markdown, which reads well in a terminal too."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import groupby

from faithboard.report import markdown
from faithboard.report.markdown import number, percent, with_interval
from faithboard.reproduction.parts import signed
from faithboard.reproduction.saliency_guided.claims import Claim, Place
from faithboard.reproduction.saliency_guided.lines import (
    AccuracyLine,
    BaselineLine,
    DifferenceLine,
    EvidenceLine,
    ModelLine,
    ValueLine,
)


def failing(models: Iterable[ModelLine]) -> set[Place]:
    """Models that take no part in the claims; their numbers get a star."""
    return {(line.task, line.model, line.training) for line in models if line.reason}


def models(lines: Iterable[ModelLine]) -> str:
    """How good and how sure every model is, and when it stopped; one number per seed."""
    rows = [
        (
            line.task,
            line.model,
            line.training,
            ", ".join(map(str, line.seeds)),
            _each(line.accuracy),
            "passed" if line.gate_passed else "**not passed**",
            _each(line.confidence),
            " / ".join(markdown.NOTHING if best is None else str(best) for best in line.best_epochs),
            f"{line.epochs} ({line.select})",
            line.masking or markdown.NOTHING,
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
        "training",
        "seeds",
        "test accuracy",
        "gate",
        "mean confidence",
        "epoch kept",
        "of (picked by)",
        "masking",
        "texts explained",
        "training rows",
        "vectors",
        "to be kept in mind",
    )
    return markdown.table(headers, rows, right=(10, 11))


def accuracies(lines: Iterable[AccuracyLine]) -> str:
    """Differences of accuracy and confidence between trainings."""
    rows = [
        (
            line.task,
            line.model,
            f"{line.a} - {line.b}",
            with_interval(line.value, line.low, line.high),
            number(line.seed_spread),
            f"{line.agreeing} of {len(line.seeds)}",
            line.verdict,
            signed(line.confidence),
            number(line.confidence_spread),
            f"{line.n:,}",
        )
        for line in lines
    ]
    headers = (
        "task",
        "model",
        "trainings",
        "accuracy",
        "over seeds",
        "same sign",
        "verdict",
        "mean confidence",
        "over seeds",
        "test texts",
    )
    return markdown.table(headers, rows, right=(3, 4, 5, 7, 8, 9))


def epochs(lines: Sequence[ModelLine]) -> Iterator[str]:
    """One sentence per task and model: whether the compared models stopped at equal epochs."""
    for (task, model), group in groupby(lines, key=lambda line: (line.task, line.model)):
        own = list(group)
        seeds = [seed for seed in own[0].seeds if all(seed in line.seeds for line in own)]
        kept = {line.training: [line.best_epochs[line.seeds.index(seed)] for seed in seeds] for line in own}
        place = f"{task}, {model}"
        if len(own) < 2 or not seeds:
            yield f"{place}: no two trainings of one seed to compare."
        elif any(epoch is None for each in kept.values() for epoch in each):
            yield f"{place}: the epochs of some models were not recorded."
        elif all(each == kept[own[0].training] for each in kept.values()):
            each = " / ".join(map(str, kept[own[0].training]))
            yield f"{place}: the compared models stopped at equal epochs ({each}, by seed)."
        else:
            told = "; ".join(f"{training} {' / '.join(map(str, each))}" for training, each in kept.items())
            yield f"{place}: the compared models stopped at **unequal** epochs (by seed: {told})."


def values(lines: Iterable[ValueLine], starred: Container[Place]) -> str:
    """Every number beside the published one."""
    rows = [
        (
            _task(line.task, (line.task, line.model, line.training) in starred),
            line.model,
            line.metric,
            line.profile,
            line.method,
            line.training,
            with_interval(line.value, line.low, line.high),
            number(line.seed_spread),
            number(line.published),
            signed(line.difference),
            with_interval(line.relative, line.relative_low, line.relative_high),
            f"{len(line.seeds)}",
            f"{line.n:,}",
            percent(line.undefined) if line.undefined else markdown.NOTHING,
        )
        for line in lines
    ]
    headers = (
        "task",
        "model",
        "metric",
        "profile",
        "method",
        "training",
        "here",
        "over seeds",
        "published",
        "difference",
        "relative to confidence",
        "seeds",
        "n",
        "undefined",
    )
    return markdown.table(headers, rows, right=range(6, 14))


def differences(lines: Iterable[DifferenceLine], starred: Container[Place]) -> str:
    """One pair of trainings: the difference, the published one and a verdict; the same relative to confidence."""
    rows = [
        (
            _task(line.task, any((line.task, line.model, one) in starred for one in (line.a, line.b))),
            line.model,
            line.metric,
            line.profile,
            line.method,
            with_interval(line.value, line.low, line.high),
            number(line.seed_spread),
            f"{line.agreeing} of {len(line.seeds)}",
            signed(line.published),
            line.verdict,
            with_interval(line.relative, line.relative_low, line.relative_high),
            line.relative_verdict or markdown.NOTHING,
            f"{line.n:,}",
        )
        for line in lines
    ]
    headers = (
        "task",
        "model",
        "metric",
        "profile",
        "method",
        "here",
        "over seeds",
        "same sign",
        "published",
        "verdict",
        "relative to confidence",
        "verdict",
        "n",
    )
    return markdown.table(headers, rows, right=(5, 6, 7, 8, 10, 12))


def baselines(lines: Iterable[BaselineLine], starred: Container[Place]) -> str:
    """Every method less a random order on the same models."""
    rows = [
        (
            _task(line.task, (line.task, line.model, line.training) in starred),
            line.model,
            line.training,
            line.metric,
            line.method,
            with_interval(line.value, line.low, line.high),
            f"{line.agreeing} of {len(line.seeds)}",
            signed(line.published),
            line.verdict,
            f"{line.n:,}",
        )
        for line in lines
    ]
    headers = ("task", "model", "training", "metric", "method", "here", "same sign", "published", "verdict", "n")
    return markdown.table(headers, rows, right=(5, 6, 7, 9))


def evidence(claim: Claim, lines: Iterable[EvidenceLine]) -> str:
    """The numbers behind a claim; empty when there are none."""
    rows = [
        (
            line.task,
            line.what,
            with_interval(line.value, line.low, line.high),
            signed(line.published),
            f"{line.agreeing} of {line.seeds}",
            f"{line.n:,}",
            line.verdict,
            "holds" if line.holds else "opposite" if line.opposite else "not shown",
        )
        for line in lines
        if line.claim == claim.name
    ]
    headers = ("task", "of", "difference", "published", "same sign", "n", "interval", "the claim")
    return markdown.table(headers, rows, right=(2, 3, 4, 5)) if rows else ""


def _task(name: str, starred: bool) -> str:
    return f"{name} *" if starred else name


def _each(values: Iterable[float | None]) -> str:
    return " / ".join(map(number, values)) or markdown.NOTHING
