"""The questions of the paper as a checklist, and the rule by which our numbers answer each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from faithboard.reproduction.elephant.lines import Answers, AttentionLine, DuelLine, OperatorLine
from faithboard.reproduction.elephant.making import ATTENTION, CONTRIBUTION, SENSITIVITY

UNANSWERED = "not answered: nothing of it has been measured"


@dataclass(frozen=True)
class Answer:
    """One row of the checklist."""

    question: str
    rule: str
    verdict: str
    numbers: str


def checklist(found: Answers) -> list[Answer]:
    """The questions in the order of the page."""
    return [
        _which_tokens(attention_duels(found)),
        _sensitivity(found),
        _matters(found.attention),
        _operators(found.operators),
    ]


def attention_duels(found: Answers) -> list[DuelLine]:
    """Attention against the saliency methods."""
    return [line for line in found.duels if line.a == ATTENTION]


def sensitivity_duels(found: Answers) -> list[DuelLine]:
    """Sensitivity against contribution of the same gradient."""
    return [line for line in found.duels if (line.a, line.b) == (SENSITIVITY, CONTRIBUTION)]


def by_task(duels: Iterable[DuelLine]) -> dict[str, Counter[str]]:
    """Task -> how many comparisons `a` wins, loses and draws."""
    found: dict[str, Counter[str]] = {}
    for line in duels:
        outcome = "won" if line.better == line.a else "lost" if line.better else "drawn"
        found.setdefault(line.task, Counter())[outcome] += 1
    return found


def loses(line: AttentionLine) -> bool:
    """Whether accuracy drops without learned attention, with all of the interval and in every seed that is known."""
    return line.low > 0 and all(loss > 0 for loss in line.seed_losses.values())


def matters(lines: Sequence[AttentionLine]) -> bool:
    """Whether learned attention is better than every control that was trained."""
    return bool(lines) and all(map(loses, lines))


def seeds_of(lines: Sequence[AttentionLine]) -> int:
    """Seeds that every control was compared on."""
    return min(len(line.seeds) for line in lines)


def _which_tokens(duels: Sequence[DuelLine]) -> Answer:
    tasks = by_task(duels)
    behind = [task for task, count in tasks.items() if count["lost"] > count["won"]]
    ahead = [task for task, count in tasks.items() if count["won"] > count["lost"]]
    even = [task for task in tasks if task not in behind and task not in ahead]
    total = sum(tasks.values(), Counter())
    verdict = UNANSWERED
    if tasks:
        parts = [
            f"saliency says it better ({', '.join(behind)})" if behind else "",
            f"attention says it better ({', '.join(ahead)})" if ahead else "",
            f"neither ({', '.join(even)})" if even else "",
        ]
        verdict = "; ".join(part for part in parts if part)
    return Answer(
        "Which tokens mattered for this prediction: does attention say it, or saliency?",
        "For a task, whichever is significantly better in more of the paired comparisons of attention with a saliency "
        "method (over metrics and methods).",
        verdict,
        f"attention better in {total['won']}, a saliency method in {total['lost']}, not told apart in "
        f"{total['drawn']} of {total.total()} comparisons",
    )


def _sensitivity(found: Answers) -> Answer:
    tasks = by_task(sensitivity_duels(found))
    apart = [task for task, count in tasks.items() if count["won"] or count["lost"]]
    total = sum(tasks.values(), Counter())
    taus = [line.tau for line in found.alike if (line.a, line.b) == (SENSITIVITY, CONTRIBUTION)]
    between = f"; tau between their scores {min(taus):.2f} to {max(taus):.2f}" if taus else ""
    verdict = UNANSWERED
    if tasks:
        verdict = f"yes, they answer differently ({', '.join(apart)})" if apart else "no difference shown"
    return Answer(
        "Is sensitivity (how much a word could change the output) something else than contribution (how much it did)?",
        f"The paired tests tell `{SENSITIVITY}` and `{CONTRIBUTION}` apart in at least one metric of a task. By "
        "magnitude (tau) they may be alike: the sign is what the norm cannot have.",
        verdict,
        f"sensitivity better in {total['won']}, contribution in {total['lost']}, not told apart in {total['drawn']} "
        f"of {total.total()} comparisons{between}",
    )


def _matters(lines: Sequence[AttentionLine]) -> Answer:
    groups: dict[tuple[str, str], list[AttentionLine]] = {}
    for line in lines:
        groups.setdefault((line.task, line.encoder), []).append(line)
    by_several, by_one, no = "it matters", "it matters by the one seed trained", "not shown"
    said: dict[str, list[str]] = {by_several: [], by_one: [], no: []}
    for (task, _), own in groups.items():
        yes = by_several if seeds_of(own) > 1 else by_one
        said[yes if matters(own) else no].append(task)
    parts = [f"{verdict} ({', '.join(dict.fromkeys(tasks))})" for verdict, tasks in said.items() if tasks]
    return Answer(
        "Does attention matter for the task at all?",
        "The accuracy drops against every control that was trained (none, uniform, random), each with all of its 95 % "
        "interval and in every seed trained. The controls are not corrected for their number.",
        "; ".join(parts) or UNANSWERED,
        f"{sum(map(loses, lines))} of {len(lines)} controls lose accuracy",
    )


def _operators(lines: Sequence[OperatorLine]) -> Answer:
    swapped = [line for line in lines if line.reversed]
    tasks = list(dict.fromkeys(line.task for line in lines))
    moved = list(dict.fromkeys(line.task for line in swapped))
    told = {line.task for line in lines if line.decided}
    still = [task for task in tasks if task not in moved and task in told]
    open_ = [task for task in tasks if task not in told]
    parts = [
        f"it survives ({', '.join(still)})" if still else "",
        f"it does not ({', '.join(moved)})" if moved else "",
        f"not decided, as nothing is told apart ({', '.join(open_)})" if open_ else "",
    ]
    decided, other = sum(line.decided for line in lines), sum(line.reversed for line in lines)
    taus = f"; tau {min(line.tau for line in lines):.2f} to {max(line.tau for line in lines):.2f}" if lines else ""
    return Answer(
        "Does the ranking by erasure survive another way to erase?",
        "No pair of methods that the paired tests tell apart under two operators stands in opposite order.",
        "; ".join(part for part in parts if part) or UNANSWERED,
        f"{other} of {decided} pairs swapped{taus}",
    )
