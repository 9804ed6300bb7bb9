"""The claims, one by one: the comparisons that each rests on, and a verdict over them.

All are about the BiLSTM with additive attention and models that pass the accuracy gate in every seed.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from faithboard.published import saliency_guided
from faithboard.reproduction.saliency_guided.comparing import (
    BETTER,
    CODE,
    GUIDED,
    KEPT,
    LOST,
    MASKED,
    METHODS,
    MODEL,
    PAPER,
    STANDARD,
    shown,
)
from faithboard.reproduction.saliency_guided.lines import AccuracyLine, BaselineLine, DifferenceLine, EvidenceLine
from faithboard.training.share import MARGIN

Place = tuple[str, str, str]
"""(task, model, training)."""


@dataclass(frozen=True)
class Claim:
    """What is claimed, and how it is tested here."""

    name: str
    says: str
    test: str
    needs: tuple[str, ...] = (STANDARD, GUIDED)
    """Trainings that must be there and pass the gate."""
    otherwise: str = "nothing of them is scored"
    """Why there is no comparison where all of that is there."""


ONE_PROFILE = (
    "The profiles of comprehensiveness differ by the factor 5/6 alone and have one direction, so one of them counts."
)
VERDICTS = (
    "A comparison counts for or against a claim when all of its 95 % interval over texts lies on one side of 0 and the "
    "difference of every seed lies there too. Verdicts over the comparisons of a claim: `holds` when all of them do; "
    "`holds in k of n`; `does not hold here` when none does and at least one shows the opposite; `not shown here` when "
    "none does and none shows the opposite."
)
CLAIMS = (
    Claim(
        "comprehensiveness",
        "Saliency-guided training raises comprehensiveness.",
        f"{GUIDED} less {STANDARD}, per task and method (gradient, integrated gradients, SmoothGrad); a comparison "
        f"holds when it lies above 0. {ONE_PROFILE}",
    ),
    Claim(
        "sufficiency",
        "Saliency-guided training lowers sufficiency.",
        f"{GUIDED} less {STANDARD}, per task, method and profile; a comparison holds when it lies below 0.",
    ),
    Claim(
        "accuracy",
        "Saliency-guided training keeps the accuracy.",
        f"Accuracy of {GUIDED} less {STANDARD}, paired over the test texts; it holds when the interval excludes a loss "
        f"of more than {MARGIN * 100:g} point for the mean of these models. The opposite is shown when it does not, it "
        "lies below 0 and every seed loses; in between nothing is decided.",
        otherwise="no predictions of them are stored",
    ),
    Claim(
        "guidance",
        "The gain comes from guidance: masking random words gives less.",
        f"Our control, not in the paper. For each comparison of the first two claims in which {GUIDED} shows a gain "
        f"over {STANDARD}: {GUIDED} less {MASKED}; it holds when that lies on the side of a gain too.",
        needs=(STANDARD, GUIDED, MASKED),
        otherwise="saliency-guided training shows no gain over standard training",
    ),
    Claim(
        "random",
        "Under standard training, gradients order words better than chance.",
        f"Our control: a gain in an order that is no better than chance says little. A method less random, {STANDARD} "
        "training, per task, method and metric; it holds when it lies above 0 for comprehensiveness, below 0 for "
        "sufficiency. The profiles differ by the factor 5/6 alone, since the text without any word is the same for "
        "all methods.",
        needs=(STANDARD,),
    ),
)


def evidence_lines(
    passing: Container[Place],
    differences: Sequence[DifferenceLine],
    accuracies: Sequence[AccuracyLine],
    baselines: Sequence[BaselineLine],
) -> list[EvidenceLine]:
    """What every claim rests on; `passing` are the models that pass the gate."""

    gains = counted_lines(passing, differences, (GUIDED, STANDARD))
    found = [_gain(line) for line in gains]
    found += [
        _accuracy(line) for line in accuracies if usable(line, passing) and (line.a, line.b) == (GUIDED, STANDARD)
    ]
    found += _guidance(gains, counted_lines(passing, differences, (GUIDED, MASKED)))
    return found + [
        _random(line)
        for line in baselines
        if line.model == MODEL
        and line.training == STANDARD
        and line.profile == CODE
        and (line.task, line.model, STANDARD) in passing
    ]


def counted_lines(
    passing: Container[Place], differences: Sequence[DifferenceLine], pair: tuple[str, str]
) -> list[DifferenceLine]:
    """The differences of two trainings that claims count: of the model they are about, past the gate, each once."""
    return [
        line
        for line in differences
        if (line.a, line.b) == pair and line.method in METHODS and usable(line, passing) and _counts(line)
    ]


def in_paper(task: str) -> bool:
    """Whether the paper has the task."""
    return any(known[0] == task for known in saliency_guided())


def claim_verdict(claim: Claim, evidence: Sequence[EvidenceLine], why_not: str) -> str:
    """`holds`, `holds in k of n comparisons: ...`, `does not hold here` where the opposite is shown, `not shown here`
    where it is not, or `not testable here: ...`, over the paper's tasks, and apart over the others. `why_not` says why
    there is none, should there be none.
    """
    own = [line for line in evidence if line.claim == claim.name]
    counted, beyond = ([line for line in own if in_paper(line.task) == paper] for paper in (True, False))
    said = _over(counted) if counted else f"not testable here: {why_not}"
    return f"{said}; beyond the paper's tasks: {_over(beyond)}" if beyond else said


def usable(line: DifferenceLine | AccuracyLine, passing: Container[Place]) -> bool:
    """Whether a difference is of the model that claims are about, and both of its trainings pass the gate."""
    return line.model == MODEL and all((line.task, line.model, training) in passing for training in (line.a, line.b))


def _counts(line: DifferenceLine) -> bool:
    return line.profile == CODE or (line.metric, line.profile) == ("sufficiency", PAPER)


def _over(lines: Sequence[EvidenceLine]) -> str:
    tasks = dict.fromkeys(line.task for line in lines)
    of_task = {task: [line.holds for line in lines if line.task == task] for task in tasks}
    holding, opposite = sum(line.holds for line in lines), sum(line.opposite for line in lines)
    if holding == len(lines):
        return f"holds ({', '.join(of_task)})"
    if not holding:
        said = "does not hold" if opposite else "not shown"
        return f"{said} here (0 of {len(lines)}; opposite in {opposite})"
    against = f"; the opposite is shown in {opposite}" if opposite else ""
    each = ", ".join(f"{task} {sum(holds)} of {len(holds)}" for task, holds in of_task.items())
    return f"holds in {holding} of {len(lines)} comparisons: {each}{against}"


def _gain(line: DifferenceLine) -> EvidenceLine:
    return _evidence(line.metric, line, f"{line.method}, {line.profile}", line.published, line.verdict)


def _guidance(gains: Sequence[DifferenceLine], against_masked: Sequence[DifferenceLine]) -> Iterator[EvidenceLine]:
    gained = {
        (line.task, line.method, line.metric, line.profile) for line in gains if shown(line) == BETTER[line.metric]
    }
    for line in against_masked:
        if (line.task, line.method, line.metric, line.profile) in gained:
            yield _evidence("guidance", line, f"{line.metric}, {line.method}, {line.profile}", None, line.verdict)


def _random(line: BaselineLine) -> EvidenceLine:
    return _evidence("random", line, f"{line.metric}, {line.method}", line.published, line.verdict)


def _evidence(
    claim: str, line: DifferenceLine | BaselineLine, what: str, published: float | None, verdict: str
) -> EvidenceLine:
    sign = shown(line)
    return EvidenceLine(
        claim=claim,
        task=line.task,
        what=what,
        value=line.value,
        low=line.low,
        high=line.high,
        n=line.n,
        seeds=len(line.seeds),
        agreeing=line.agreeing,
        published=published,
        holds=sign == BETTER[line.metric],
        opposite=sign == -BETTER[line.metric],
        verdict=verdict,
    )


def _accuracy(line: AccuracyLine) -> EvidenceLine:
    return EvidenceLine(
        claim="accuracy",
        task=line.task,
        what="accuracy",
        value=line.value,
        low=line.low,
        high=line.high,
        n=line.n,
        seeds=len(line.seeds),
        agreeing=line.agreeing,
        published=None,
        holds=line.verdict == KEPT,
        opposite=line.verdict == LOST,
        verdict=line.verdict,
    )
