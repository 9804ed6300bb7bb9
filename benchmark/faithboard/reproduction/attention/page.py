"""The page of a reproduction. A pure function of its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from faithboard.report import markdown
from faithboard.reproduction.attention import conditions, tables
from faithboard.reproduction.attention.claims import BILSTM, CLAIMS, Claim
from faithboard.reproduction.attention.comparing import DIFFERS, FAR, SUBSTITUTES, WITHIN
from faithboard.reproduction.attention.lines import Reproduction, TauLine
from faithboard.reproduction.attention.verdicts import WITHIN_INTERVAL, claim_verdict
from faithboard.reproduction.parts import figures as shown_figures
from faithboard.reproduction.parts import title

IN_PRINT = ("bilstm-additive", "average-additive")
"""Models of table 2 as printed; the others are in the authors' result files."""

VERDICTS = """\
Verdicts on tau. `within 0.08`: |difference| <= 0.08, what single unseeded runs are expected to move by. `same sign and
order`: both numbers have one sign, and of the cells of the same task and predicted class that belong to the other
encoders (same attention, same pair) or to the other pairs (same model), every one that is published more than 0.08 away
stands on the same side here. `differs`: anything else, also where no such cell is there to compare with. Counts,
vocabularies and lengths are compared relative to the published number.

tau: mean ± standard deviation over examples (ddof 0, as published; its mean over seeds), and the share of p <= 0.05
among the texts on which it can be reached at all (five words). `n`: texts with a tau; one counts in each class that any
seed predicts, so the classes may add up to more than all. `over seeds`: standard deviation of the mean over seeds. `too
short`: texts with a tau that cannot be tested, which is not "not significant". `undefined`: a constant vector, no tau.
Every published number is one unseeded run. A star marks a model that fails the accuracy gate: it takes no part in the
claims."""

TOP_K = """\
Do two measures put the same words on top? 1 - 2 K, with K Fagin's distance K^(1/2) of the lists of the k words that
they rank highest, over its largest value: 1 for equal lists, -1 for lists that share no word. k is a tenth of the mean
length T of the texts, and at least 10. Of a text of T <= k words both lists hold all of them, and the value cannot fall
below about 1/3; -1 can be reached from T = 2k on. So tasks with texts of other lengths do not compare. Mean over all
texts."""


def restricted(reproduction: Reproduction, tasks: Container[str]) -> Reproduction:
    """The lines of some tasks; the claims about them are those of these tasks alone."""
    return replace(
        reproduction,
        models=[line for line in reproduction.models if line.task in tasks],
        datasets=[line for line in reproduction.datasets if line.task in tasks],
        taus=[line for line in reproduction.taus if line.task in tasks],
        lengths=[line for line in reproduction.lengths if line.task in tasks],
        permutations=[line for line in reproduction.permutations if line.task in tasks],
        divergences=[line for line in reproduction.divergences if line.task in tasks],
        evidence=[line for line in reproduction.evidence if line.task in tasks],
        heatmaps=[line for line in reproduction.heatmaps if line.task in tasks],
        tried=[line for line in reproduction.tried if line.task in tasks],
    )


def console_report(reproduction: Reproduction) -> str:
    """Tables 2 and 1 as printed in the paper, the claims with their numbers, and the cells that are far off."""
    parts = [_title(reproduction), *_table_2(reproduction), *_table_1(reproduction), *_claims(reproduction)]
    return "\n\n".join([*parts, *_far(reproduction)])


def page(reproduction: Reproduction, figures: str) -> str:
    """The Markdown of the page, heading included; `figures` is the folder of the figures, relative to the page."""
    parts = [_title(reproduction), *_summary(reproduction), *_claims(reproduction)]
    parts += [*_table_2(reproduction), *_others(reproduction), *_far(reproduction), *_table_1(reproduction)]
    parts += [*_models(reproduction)]
    parts += [*shown_figures(reproduction.figures, figures), *_probes(reproduction)]
    return "\n\n".join(parts)


def _title(reproduction: Reproduction) -> str:
    return title("Attention is not Explanation, reproduced", "Jain & Wallace 2019.", reproduction.suite[0])


def _summary(reproduction: Reproduction) -> Iterator[str]:
    own, standing_in = _split(reproduction.taus)
    yield f"Cells of tau with a published number: {_tally(own)}. What these verdicts mean is said below table 2."
    if any(line.verdict for line in standing_in):
        tasks = ", ".join(dict.fromkeys(f"{line.task} (for {SUBSTITUTES[line.task]})" for line in standing_in))
        yield f"Cells of a substitute, {tasks}, beside the numbers of what it stands in for: {_tally(standing_in)}."
    counts = conditions.explained(reproduction.models)
    if counts:
        yield (
            f"Test texts that are explained, the first of them by a hash of their names: {counts}. Fewer than there "
            "are, and fewer of long ones, for the cost: leaving out each of T words takes T x T token steps."
        )
    rows = [(claim.says, _verdict(claim, reproduction)) for claim in CLAIMS]
    yield markdown.table(("claim of the paper", "verdict here"), rows)


def _split(lines: Sequence[TauLine]) -> tuple[list[TauLine], list[TauLine]]:
    """Those of the paper's own tasks, and those of substitutes."""
    parts: tuple[list[TauLine], list[TauLine]] = ([], [])
    for line in lines:
        parts[line.task in SUBSTITUTES].append(line)
    return parts


def _tally(lines: Sequence[TauLine]) -> str:
    found = Counter(line.verdict for line in lines if line.verdict)
    counted = ", ".join(f"{found[name]:,} `{name}`" for name in ("within 0.08", "same sign and order", DIFFERS))
    return f"{found.total():,}: {counted}; {sum(map(conditions.far, lines)):,} of them are more than {FAR} away"


def _claims(reproduction: Reproduction) -> Iterator[str]:
    yield "## The claims, one by one"
    yield (
        "For additive attention and models that pass the accuracy gate. Intervals: 95 % bootstrap over examples. "
        f"`{WITHIN_INTERVAL}`: what a number is held against lies in the interval of that number, which then decides "
        "nothing for sure. The claims on shuffled and on adversarial attention are judged by the number itself, the "
        "others by its interval."
    )
    for claim in CLAIMS:
        yield f"### {claim.says}\n\nVerdict: {_verdict(claim, reproduction)}.\n\n{claim.test}"
        numbers = tables.evidence(claim, reproduction.evidence)
        if numbers:
            yield numbers


def _verdict(claim: Claim, reproduction: Reproduction) -> str:
    return claim_verdict(claim, reproduction.evidence, _why_not(claim, reproduction))


def _why_not(claim: Claim, reproduction: Reproduction) -> str:
    """Why nothing that counts for a claim is there."""
    there = {(line.task, line.model) for line in reproduction.models if line.published_task or not claim.of_paper}
    passing = {(line.task, line.model) for line in reproduction.models if not line.reason}
    whole = {task for task, _ in there if all((task, model) in there for model in claim.needs)}
    if not whole:
        of = "of the paper " if claim.of_paper else ""
        return f"no task {of}has been run with {' and '.join(claim.needs)}"
    if not any(all((task, model) in passing for model in claim.needs) for task in whole):
        return f"no {' and '.join(claim.needs)} passes the accuracy gate"
    if not claim.of_paper:
        return "no task in which a few words decide has been run"
    return "no task that counts has a value"


def _table_2(reproduction: Reproduction) -> Iterator[str]:
    yield "## Table 2: attention against gradients and leave-one-out"
    printed = [line for line in reproduction.taus if line.model in IN_PRINT and line.pair in tables.TABLE_2]
    # As in the paper: by predicted class, and over all only where there is no breakdown.
    broken_down = {line.task for line in printed if line.predicted is not None}
    printed = [line for line in printed if line.predicted is not None or line.task not in broken_down]
    yield tables.taus(printed, reproduction.models) if printed else "Nothing was measured."
    yield VERDICTS


def _others(reproduction: Reproduction) -> Iterator[str]:
    yield "### Every cell"
    yield tables.taus(reproduction.taus, reproduction.models)


def _far(reproduction: Reproduction) -> Iterator[str]:
    yield f"### Cells that differ by more than {FAR} from the published tau"
    yield conditions.far_cells(reproduction.taus, reproduction.models, reproduction.tried)


def _table_1(reproduction: Reproduction) -> Iterator[str]:
    yield "## Table 1: the data sets"
    if not reproduction.datasets:
        yield "No task of the paper has been run."
        return
    yield conditions.datasets(reproduction.datasets)
    why = conditions.reasons(reproduction.datasets)
    if why:
        yield f"Why numbers differ, as far as it is known:\n\n{why}"


def _models(reproduction: Reproduction) -> Iterator[str]:
    yield "## Models"
    yield conditions.models(reproduction.models)
    yield (
        "The published performance is that of the authors' result files; table 1 has what the paper prints, which is "
        "not always the same."
    )
    worse = conditions.below_print(reproduction.models)
    if worse:
        yield (
            f"These did worse than in print by more than {WITHIN}. They are averaged into the cells above all the "
            f"same: the gate asks for better than chance, not for the published performance.\n\n{worse}"
        )


def _probes(reproduction: Reproduction) -> Iterator[str]:
    yield "## Permuted attention"
    yield (
        "Median total variation distance of the output over 100 permutations, by the largest attention weight. The "
        "BiLSTM with additive attention; the other models are in the lines beside this page."
    )
    yield tables.permutations(line for line in reproduction.permutations if line.model == BILSTM)
    yield "## Adversarial attention"
    yield (
        "Largest Jensen-Shannon divergence (nats, at most 0.693) of an attention that keeps the output. The published "
        "distributions were made with the constants of the code and read off histograms, give or take 0.01."
    )
    yield tables.divergences(reproduction.divergences)
    agreement = tables.top_k(reproduction.taus, reproduction.models)
    if agreement:
        yield "## Top-k agreement"
        yield TOP_K
        yield agreement
    yield "## tau by length"
    yield (
        "Quarters of the examples by length, for the BiLSTM with additive attention where it passes the gate. Excess "
        "variance: variance of tau less the mean of 2(2T + 5) / 9T(T - 1), what independent orders of T words have. "
        "Significant, not significant, not testable (fewer than five words) and undefined (a constant vector) are "
        "shares of all, and add up to 1."
    )
    yield tables.lengths(line for line in reproduction.lengths if line.model == BILSTM)
