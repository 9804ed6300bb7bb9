"""The page of this reproduction. A pure function of its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import fields, replace

from faithboard.report import markdown
from faithboard.reproduction.parts import figures as shown_figures
from faithboard.reproduction.parts import title
from faithboard.reproduction.saliency_guided import shares, tables
from faithboard.reproduction.saliency_guided.claims import (
    CLAIMS,
    VERDICTS,
    Claim,
    claim_verdict,
    in_paper,
)
from faithboard.reproduction.saliency_guided.comparing import (
    CODE,
    GUIDED,
    MODEL,
    OPPOSITE,
    PAIRS,
    RANDOM,
    SAME,
    STANDARD,
    UNDECIDED,
    UNPUBLISHED,
)
from faithboard.reproduction.saliency_guided.controls import controls
from faithboard.reproduction.saliency_guided.lines import Reproduction

PAPER = 'Ismail et al. 2021, "Improving Deep Learning Interpretability by Saliency Guided Training", language tasks.'
SUITE = "saliency-guided-training"
READING = f"""\
Every number is the mean over texts of the mean over seeds; its 95 % interval resamples the texts and holds for the
models that were trained. How much other seeds would change it is in `over seeds`, the standard deviation of the mean
per seed, and in `same sign`, the seeds whose own difference has the sign of the whole. No correction for the number of
comparisons is made: of twenty without any difference, one is expected to show one.

Which profile of the metrics the paper used is not known, so both stand beside its numbers. `eraser-code` is the mean
over the shares 1, 5, 10, 20 and 50 %; `paper` is the printed formula, which counts the share 0 too: comprehensiveness
is then 5/6 of the other, and sufficiency also asks what the text without any word loses, the same for all methods of a
model. Raw values depend on how a model reacts to missing words at all, so those of models trained differently compare
only with care; they stand here because the paper compares them. `normalised` is `eraser-code` between the lowest and
the highest value that any order of the text's words reaches on the same model (Edin et al. 2025), for texts of up to 50
words among the first 100.

Verdicts on differences: `{SAME}` as published, the interval away from 0; `{UNDECIDED}`, the interval holds 0
(that is not "no difference"); `{OPPOSITE}`, the interval away from 0 on the other side;
`{UNPUBLISHED}`; `higher` or `lower` where nothing is published. Comprehensiveness
is better higher, sufficiency better lower. A star marks models that fail the accuracy gate: they take no part in the
claims."""


def restricted(reproduction: Reproduction, tasks: Container[str]) -> Reproduction:
    """The lines of some tasks; the claims about them are those of these tasks alone."""
    parts = [part.name for part in fields(reproduction) if part.name not in ("suite", "figures")]
    return replace(
        reproduction,
        **{part: [line for line in getattr(reproduction, part) if line.task in tasks] for part in parts},
    )


def console_report(reproduction: Reproduction) -> str:
    """The claims with their numbers, and the differences that the paper publishes."""
    parts = [_title(reproduction), *_warnings(reproduction), *_claims(reproduction)]
    return "\n\n".join([*parts, *_differences(reproduction, GUIDED, STANDARD), READING])


def page(reproduction: Reproduction, figures: str) -> str:
    """The Markdown of the page, heading included; `figures` is the folder of the figures, relative to the page."""
    parts = [_title(reproduction), *_warnings(reproduction), *_summary(reproduction), READING, *_claims(reproduction)]
    parts += ["## Differences between trainings"]
    parts += [part for a, b in PAIRS for part in _differences(reproduction, a, b)]
    parts += [*controls(reproduction), *_baselines(reproduction), *shown_figures(reproduction.figures, figures)]
    parts += ["## Every number", tables.values(reproduction.values, tables.failing(reproduction.models))]
    return "\n\n".join(parts)


def _title(reproduction: Reproduction) -> str:
    return title("Saliency-guided training, reproduced", PAPER, reproduction.suite[0])


def _warnings(reproduction: Reproduction) -> Iterator[str]:
    if reproduction.missing:
        said = "\n".join(f"- {markdown.plain(line.says)}" for line in reproduction.missing)
        yield f"**Not everything is here.** What follows rests on the rest.\n\n{said}"
    yield from shares.warnings(reproduction.shares, SUITE)


def _summary(reproduction: Reproduction) -> Iterator[str]:
    found = Counter(line.verdict for line in reproduction.differences if line.published is not None)
    if found:
        each = ", ".join(f"{found[name]} {name}" for name in (SAME, UNDECIDED, OPPOSITE, UNPUBLISHED) if found[name])
        yield f"Of {found.total()} published differences, in both profiles beside ours: {each}."
    rows = [(claim.says, _verdict(claim, reproduction)) for claim in CLAIMS]
    yield markdown.table(("claim", "verdict here"), rows)


def _claims(reproduction: Reproduction) -> Iterator[str]:
    yield "## The claims, one by one"
    yield f"For {MODEL} and models that pass the accuracy gate in every seed. {VERDICTS}"
    for claim in CLAIMS:
        yield f"### {claim.says}\n\nVerdict: {_verdict(claim, reproduction)}.\n\n{claim.test}"
        numbers = tables.evidence(claim, reproduction.evidence)
        if numbers:
            yield numbers


def _verdict(claim: Claim, reproduction: Reproduction) -> str:
    return claim_verdict(claim, reproduction.evidence, _why_not(claim, reproduction))


def _why_not(claim: Claim, reproduction: Reproduction) -> str:
    """Why no comparison that counts for a claim is there."""
    there = [line for line in reproduction.models if in_paper(line.task) and line.model == MODEL]
    trained = {(line.task, line.training) for line in there}
    passing = {(line.task, line.training) for line in there if not line.reason}
    needs = " and ".join(claim.needs)
    whole = {task for task, _ in trained if all((task, training) in trained for training in claim.needs)}
    if not whole:
        return f"no task of the paper has {MODEL} trained by {needs}"
    usable = sorted(task for task in whole if all((task, training) in passing for training in claim.needs))
    if not usable:
        return f"no {MODEL} trained by {needs} passes the accuracy gate"
    return f"{claim.otherwise} ({', '.join(usable)})"


def _differences(reproduction: Reproduction, a: str, b: str) -> Iterator[str]:
    yield f"### {a} less {b}"
    own = [line for line in reproduction.differences if (line.a, line.b) == (a, b)]
    starred = tables.failing(reproduction.models)
    yield tables.differences(own, starred) if own else f"No model trained by {a} can be set beside one by {b}."


def _baselines(reproduction: Reproduction) -> Iterator[str]:
    yield "## The methods against a random order"
    yield (
        f"A method less `{RANDOM}` (the mean of its draws) on the same models and texts, in the profile {CODE}; in "
        "that of the paper it is 5/6 as large."
    )
    own = [line for line in reproduction.baselines if line.profile == CODE]
    yield tables.baselines(own, tables.failing(reproduction.models)) if own else "Nothing was scored."
