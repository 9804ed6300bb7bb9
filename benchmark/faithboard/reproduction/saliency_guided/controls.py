"""The controls: is a gain of saliency-guided training more than masking, confidence, reaction or longer training?"""

from __future__ import annotations

from collections.abc import Iterator

from faithboard.config import LAST
from faithboard.reproduction.saliency_guided import shares, tables
from faithboard.reproduction.saliency_guided.claims import Place, counted_lines, usable
from faithboard.reproduction.saliency_guided.comparing import (
    BETTER,
    CODE,
    GUIDED,
    MASKED,
    METHODS,
    NORMALISED,
    STANDARD,
    direction,
    shown,
)
from faithboard.reproduction.saliency_guided.lines import DifferenceLine, Reproduction

EQUAL_EPOCHS = """\
A model that is trained for longer is usually surer, and both metrics grow with that. Below is which epochs were kept,
and the differences over the seeds alone whose two models kept equal ones. `faithboard reproduce
saliency-guided-training --set select=last` trains every model for the same number of epochs and keeps the last one; it
makes a page of its own, beside this one."""
AT_EQUAL_EPOCHS = """\
No dev measure picked an epoch (`select = last`): every model was trained for the same number of epochs and the last one
is kept, so this page compares at equal epochs."""


def controls(reproduction: Reproduction) -> Iterator[str]:
    """Paragraphs and tables, heading included."""
    yield "## Controls"
    yield (
        f"**Guidance.** `{MASKED}` masks as many words as `{GUIDED}`, chosen at random. What both gain over "
        f"`{STANDARD}` comes from masking, not from guidance by gradients; the tables above compare all three."
    )
    yield (
        "**Confidence.** Both metrics are differences of p_j, the probability of the predicted class, so a surer model "
        "has larger ones whatever its explanations are worth. Values are therefore also divided by the mean p_j of "
        "their seed's model over the test split, of which the explained texts are the first by hash. "
        + _only_confidence(reproduction)
    )
    yield _normalised(reproduction)
    yield tables.models(reproduction.models)
    if reproduction.accuracies:
        yield tables.accuracies(reproduction.accuracies)
    if reproduction.shares:
        yield shares.RULE
        yield shares.table(reproduction.shares)
    at_equal = reproduction.models and all(line.select == LAST for line in reproduction.models)
    yield f"**Epochs.** {AT_EQUAL_EPOCHS if at_equal else EQUAL_EPOCHS}"
    yield "\n".join(f"- {sentence}" for sentence in tables.epochs(reproduction.models))
    equal = [line for line in reproduction.equal_epochs if (line.a, line.b) == (GUIDED, STANDARD)]
    if equal:
        yield f"`{GUIDED}` less `{STANDARD}`, over the seeds whose two models kept equal epochs:"
        yield tables.differences(equal, tables.failing(reproduction.models))


def _only_confidence(reproduction: Reproduction) -> str:
    """How many of the gains are left when confidence is divided out."""
    gains = _gains(reproduction)
    if not gains:
        return f"No comparison shows a gain of `{GUIDED}` over `{STANDARD}`: confidence has nothing to explain."
    left = sum(
        line.relative_low is not None
        and line.relative_high is not None
        and direction(line.relative_low, line.relative_high, line.n) == BETTER[line.metric]
        for line in gains
    )
    return (
        f"Of the {len(gains)} comparisons of the first two claims that show a gain of `{GUIDED}` over `{STANDARD}`, "
        f"{left} show it relative to confidence too."
    )


def _normalised(reproduction: Reproduction) -> str:
    """What the differences are between what any order reaches on each model."""
    normalised = {
        (line.task, line.method, line.metric): line
        for line in reproduction.differences
        if line.profile == NORMALISED
        and (line.a, line.b) == (GUIDED, STANDARD)
        and line.method in METHODS
        and usable(line, _passing(reproduction))
    }
    start = "**Normalised.** Raw values of two trainings may differ because one model reacts more to any missing word. "
    if not normalised:
        why = "it was not asked for, the models fail the gate, or the first 100 texts are all longer than 50 words"
        return f"{start}None counts: {why}."
    tasks = ", ".join(dict.fromkeys(task for task, *_ in normalised))
    better = sum(shown(line) == BETTER[line.metric] for line in normalised.values())
    worse = sum(shown(line) == -BETTER[line.metric] for line in normalised.values())
    raw = [line for line in _gains(reproduction) if line.profile == CODE]
    pairs = [normalised[place] for line in raw if (place := (line.task, line.method, line.metric)) in normalised]
    left = sum(shown(line) == BETTER[line.metric] for line in pairs)
    said = (
        f"{start}Of {len(normalised)} normalised comparisons ({tasks}), {better} show a gain of `{GUIDED}` over "
        f"`{STANDARD}` and {worse} a loss"
    )
    return f"{said}; of {len(pairs)} raw gains beside one, {left} are gains normalised too." if pairs else f"{said}."


def _gains(reproduction: Reproduction) -> list[DifferenceLine]:
    """The comparisons of the first two claims that show a gain."""
    counted = counted_lines(_passing(reproduction), reproduction.differences, (GUIDED, STANDARD))
    return [line for line in counted if shown(line) == BETTER[line.metric]]


def _passing(reproduction: Reproduction) -> set[Place]:
    """Models that take part in the claims."""
    return {(line.task, line.model, line.training) for line in reproduction.models if not line.reason}
