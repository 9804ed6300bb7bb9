"""The verdict on a claim, over the tasks that it rests on. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from faithboard.published import tau
from faithboard.reproduction.attention.claims import Claim
from faithboard.reproduction.attention.comparing import SUBSTITUTES, published_task
from faithboard.reproduction.attention.lines import EvidenceLine

WITHIN_INTERVAL = "within its interval"


def claim_verdict(claim: Claim, evidence: Sequence[EvidenceLine], why_not: str) -> str:
    """`holds`, `holds for n of m tasks: ...`, `does not hold` or `not testable here: ...`, over the tasks that count.

    `why_not` says why there is none, should there be none. A task in which the interval of a number leaves open whether
    it holds is named with `WITHIN_INTERVAL`.
    """
    own = [line for line in evidence if line.claim == claim.name]
    tasks = {
        task: all(line.holds for line in own if line.task == task) for task in dict.fromkeys(li.task for li in own)
    }
    open_ones = {line.task for line in own if undecided(line)}
    counted = {task: holds for task, holds in tasks.items() if _counts(claim, task)}
    beyond = {task: holds for task, holds in tasks.items() if not in_paper(task)} if claim.of_paper else {}
    names = {task: _name(task) + (f" ({WITHIN_INTERVAL})" if task in open_ones else "") for task in tasks}
    said = _over(counted, names) if counted else f"not testable here: {why_not}"
    if beyond:
        said += f"; beyond the paper's tasks: {_over(beyond, names)}"
    return said


def line_verdict(line: EvidenceLine) -> str:
    """The verdict on one number."""
    said = "holds" if line.holds else "does not hold"
    return f"{said}, {WITHIN_INTERVAL}" if undecided(line) else said


def undecided(line: EvidenceLine) -> bool:
    """Whether the interval of a number has in it what the number is held against."""
    return line.n > 0 and line.low <= line.threshold <= line.high


def in_paper(task: str) -> bool:
    """Whether the paper has the task, or one that it stands in for."""
    return any(known[0] == published_task(task) for known in tau())


def _counts(claim: Claim, task: str) -> bool:
    return task not in claim.except_for and (in_paper(task) or not claim.of_paper)


def _name(task: str) -> str:
    return f"{task} (for {SUBSTITUTES[task]})" if task in SUBSTITUTES else task


def _over(tasks: Mapping[str, bool], names: Mapping[str, str]) -> str:
    holding = [task for task, holds in tasks.items() if holds]
    if not holding:
        return "does not hold"
    named = ", ".join(names[task] for task in holding)
    if len(holding) == len(tasks) and all(names[task] == task for task in holding):
        return f"holds ({named})"
    if len(tasks) == 1:
        return f"holds for {named}"
    of = "all" if len(holding) == len(tasks) else f"{len(holding)} of"
    substitutes = sum(task in SUBSTITUTES for task in tasks)
    counted = {0: "", 1: ", one of them a substitute"}.get(substitutes, f", {substitutes} of them substitutes")
    return f"holds for {of} {len(tasks)} tasks{counted}: {named}"
