"""The page. A pure function of its lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from faithboard.report import markdown
from faithboard.report.markdown import number, with_interval
from faithboard.report.paired import outcome
from faithboard.reproduction.elephant.lines import Answers, AttentionLine, DuelLine, OperatorLine
from faithboard.reproduction.elephant.making import CONTRIBUTION, METRICS, SALIENCY, SENSITIVITY
from faithboard.reproduction.elephant.verdicts import attention_duels, checklist, matters, seeds_of, sensitivity_duels

TITLE = "# The elephant in the interpretability room: our numbers"
INTRODUCTION = """
Bastings & Filippova (2020) ask why attention is used to explain predictions while saliency methods exist for that. The
paper argues and measures nothing; here its questions are answered with what was measured on the leaderboards named
below, for models trained as usual that pass the accuracy gate.
""".strip()
WHICH = """
The goal that the paper names: which words of the text mattered for the prediction? Attention against four saliency
methods on the same examples and weights. Cells: the saliency method's value less that of attention; **bold** where the
saliency method is significantly better, *slanted* where attention is (sign-flip test, Holm-adjusted p <= 0.05 over all
pairs of the table, one sign in every seed).
""".strip()
APART = f"""
`{SENSITIVITY}` is the norm of the gradient: how much a small change of the word could change the output.
`{CONTRIBUTION}` is the gradient times the word's embedding: how much the word added. `tau` is between the magnitudes of
both on the same text.
""".strip()
MATTER = """
The same encoder with learned attention against none (the encoder's summary), uniform and random weights, on the full
test split. Where nothing is lost, the task does not need attention, and its weights explain little.
""".strip()
ERASE = """
One erasure metric under two ways to erase. `tau` is between the two rankings of the methods; `swapped` are pairs of
methods that both tell apart, in opposite order.
""".strip()
ARROWS = {"higher": "↑", "lower": "↓"}


def page(found: Answers, folder: str) -> str:
    """The Markdown of the page, heading included. It has no figures, so `folder` is not used."""
    del folder
    parts = [TITLE, INTRODUCTION, _checklist(found)]
    parts += ["## Attention against saliency", WHICH, _which(attention_duels(found))]
    parts += ["## Sensitivity apart from contribution", APART, _apart(found)]
    parts += ["## Does attention matter for the task?", MATTER, _matter(found.attention)]
    parts += ["## Does the ranking survive another operator?", ERASE, _erase(found.operators)]
    return "\n\n".join([*parts, "## What this is made of", *_sources(found)])


def console(found: Answers) -> str:
    """The checklist for a terminal."""
    lines = [TITLE.lstrip("# ")]
    for answer in checklist(found):
        lines += ["", answer.question, f"  {answer.verdict}", f"  {answer.numbers}"]
    return "\n".join(lines)


def _checklist(found: Answers) -> str:
    rows = [(one.question, one.verdict, one.numbers) for one in checklist(found)]
    rules = "\n".join(f"- {one.question} {one.rule}" for one in checklist(found))
    return f"{markdown.table(('question', 'answer here', 'numbers'), rows)}\n\nHow the answers are found:\n\n{rules}"


def _which(duels: Sequence[DuelLine]) -> str:
    if not duels:
        return "No board has attention beside a saliency method."
    rows = []
    for (task, model, metric), own in _grouped(duels).items():
        of = {line.b: line for line in own}
        first = own[0]
        cells = [_cell(of[name]) if name in of else markdown.NOTHING for name in SALIENCY]
        rows.append((task, model, f"{metric} {ARROWS[first.better_end]}", number(first.value_a), *cells, str(first.n)))
    headers = ("task", "model", "metric", "attention", *(f"{name} less attention" for name in SALIENCY), "n")
    return markdown.table(headers, rows, right=(len(headers) - 1,))


def _cell(line: DuelLine) -> str:
    shown = with_interval(-line.difference, -line.high, -line.low)
    mark = "**" if line.better == line.b else "*" if line.better == line.a else ""
    return f"{mark}{shown}{mark}"


def _apart(found: Answers) -> str:
    duels = sensitivity_duels(found)
    if not duels:
        return "No board has both."
    taus = {(one.task, one.model): one for one in found.alike if (one.a, one.b) == (SENSITIVITY, CONTRIBUTION)}
    rows = []
    for (task, model, metric), own in _grouped(duels).items():
        line, tau = own[0], taus.get((task, model))
        rows.append(
            (
                task,
                model,
                f"{metric} {ARROWS[line.better_end]}",
                number(line.value_a),
                number(line.value_b),
                with_interval(line.difference, line.low, line.high),
                outcome(line.better, line.p_holm),
                with_interval(tau.tau, tau.low, tau.high) if tau else markdown.NOTHING,
            )
        )
    headers = ("task", "model", "metric", f"`{SENSITIVITY}`", f"`{CONTRIBUTION}`", "difference", "better", "tau")
    return markdown.table(headers, rows)


def _matter(lines: Sequence[AttentionLine]) -> str:
    if not lines:
        return "No model has been trained with a control of attention; `faithboard train --suite reference` does."
    groups: dict[tuple[str, str], list[AttentionLine]] = {}
    for line in lines:
        groups.setdefault((line.task, line.encoder), []).append(line)
    controls = ("none", "uniform", "random")
    rows = []
    for (task, encoder), own in groups.items():
        of = {line.control: line for line in own}
        lost = [
            with_interval(of[name].loss, of[name].low, of[name].high) if name in of else "not trained"
            for name in controls
        ]
        seeds = " to ".join(dict.fromkeys(str(f(len(line.seeds) for line in own)) for f in (min, max)))
        said = "matters" if seeds_of(own) > 1 else "matters by one seed"
        rows.append((task, encoder, number(own[0].accuracy), *lost, seeds, said if matters(own) else "not shown"))
    headers = ("task", "encoder", "accuracy", *(f"lost with {name}" for name in controls), "seeds", "attention")
    return markdown.table(headers, rows)


def _erase(lines: Sequence[OperatorLine]) -> str:
    if not lines:
        return "No board has a metric under two operators."
    rows = [
        (
            line.task,
            line.model,
            f"`{line.a}`",
            f"`{line.b}`",
            with_interval(line.tau, line.low, line.high),
            f"{line.reversed} of {line.decided}",
            str(line.methods),
        )
        for line in lines
    ]
    return markdown.table(("task", "model", "metric", "and", "tau", "swapped", "methods"), rows, right=(6,))


def _sources(found: Answers) -> Iterator[str]:
    for line in found.sources:
        said = f"- {line.board} (seeds {', '.join(map(str, line.seeds))}): {'; '.join(line.models) or 'no model'}."
        yield "\n".join([said, *(f"  - left out: {markdown.plain(one)}" for one in line.left_out)])


def _grouped(duels: Iterable[DuelLine]) -> dict[tuple[str, str, str], list[DuelLine]]:
    groups: dict[tuple[str, str, str], list[DuelLine]] = {}
    for line in sorted(duels, key=lambda line: (line.task, line.model, METRICS.index(line.metric))):
        groups.setdefault((line.task, line.model, line.metric), []).append(line)
    return groups
