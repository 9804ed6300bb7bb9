"""Explained texts for a terminal: words on coloured ground, or words with numbers where there are no colours."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from faithboard.report.markdown import number
from faithboard.texts import ExplainedText, MethodScores, Word

_FOR = (231, 195, 153, 111, 75)
_AGAINST = (231, 230, 223, 216, 209)
"""Colours of the 256 of a terminal, from white to full; blue and orange differ for almost every eye."""
_BLACK = 16
_RESET = "\x1b[0m"


def strengths(scores: Sequence[float]) -> list[float]:
    """Scores as shares of the largest absolute one, in [-1, 1]; all 0 where every score is."""
    largest = max((abs(score) for score in scores), default=0.0)
    return [score / largest if largest > 0 else 0.0 for score in scores]


def prediction(text: ExplainedText) -> str:
    """`predicted: pos (0.934); neg 0.066`, with the label of a test example."""
    ordered = sorted(zip(text.probabilities, text.labels, strict=True), key=lambda pair: -pair[0])
    others = ", ".join(f"{label} {number(p)}" for p, label in ordered[1:4])
    more = f" and {len(ordered) - 4} more classes" if len(ordered) > 4 else ""
    gold = "" if text.gold is None else f"; the label is {text.gold}"
    return f"predicted: {text.predicted} ({number(ordered[0][0])}); {others}{more}{gold}"


def reading(text: ExplainedText) -> list[str]:
    """How a person's own text was read, in one line: words the rules changed, words the model does not know.

    A second line warns where it knows none.
    """
    if text.gold is not None:
        return []
    said = [f"by the task's rules {', '.join(f'{a} -> {b}' for a, b in text.changed)}"] if text.changed else []
    unknown = list(dict.fromkeys(word.text for word in text.words if not word.known))
    said += [f"not in the vocabulary {', '.join(unknown)}"] if unknown else []
    lines = [f"read: {'; '.join(said)}"] if said else []
    if not any(word.known for word in text.words if word.part == "text"):
        lines.append("warning: the model knows no word of this text, so its answer and the scores say nothing of it")
    return lines


def terminal_text(text: ExplainedText, *, colours: bool, width: int = 80) -> str:
    """The prediction, then every method below a line with its name. `[word]` is one the model does not know.

    With colours, blue is for the predicted class and orange against it (unsigned scores: the more, the bluer), each by
    its share of the method's largest score; words of a rationale are underlined. Without, scores stand behind words.
    """
    lines = textwrap.wrap(printable(prediction(text)), width)
    for said in reading(text):
        lines += textwrap.wrap(printable(said), width, subsequent_indent="  ")
    if text.truncated:
        lines.append(f"{text.truncated} words are cut off at the task's length limit")
    lines += _plain("query", [word for word in text.words if not word.scored], width)
    if any(word.rationale for word in text.words) and not colours:
        lines += _plain("rationale", [word for word in text.words if word.rationale], width)
    for method in text.methods:
        lines += ["", method.method]
        if method.scores is None:
            for part in method.reason.splitlines():
                lines += textwrap.wrap(
                    printable(part.expandtabs(4)), width, initial_indent="  ", subsequent_indent="    "
                )
        else:
            lines += _scored(text, method, method.scores, colours, width)
    return "\n".join([*lines, *_key(text, colours, width)])


def _key(text: ExplainedText, colours: bool, width: int) -> list[str]:
    """What colours, lines and brackets mean, of those that are there."""
    said = ["blue is for the predicted class, orange against it"] if colours else []
    said += (
        ["underlined words are marked in the data"] if colours and any(word.rationale for word in text.words) else []
    )
    said += ["[words] are not in the vocabulary"] if not all(word.known for word in text.words) else []
    return ["", *textwrap.wrap("; ".join(said), width)] if said else []


def _plain(title: str, words: Sequence[Word], width: int) -> list[str]:
    said = " ".join(map(_shown, words))
    return textwrap.wrap(f"{title}: {said}", width, subsequent_indent="  ") if words else []


def _scored(
    text: ExplainedText, method: MethodScores, scores: Sequence[float], colours: bool, width: int
) -> Iterator[str]:
    words = [word for word in text.words if word.scored]
    line, length = "", 0
    for word, score, strength in zip(words, scores, strengths(scores), strict=True):
        shown = _shown(word) if colours else f"{_shown(word)}({score:.3g})"
        if length and length + 1 + len(shown) > width - 2:
            yield f"  {line}"
            line, length = "", 0
        blank = " " if length else ""
        line += blank + (_painted(shown, strength, word.rationale) if colours else shown)
        length += len(blank) + len(shown)
    yield f"  {line}"


def _shown(word: Word) -> str:
    text = printable(word.text)
    return text if word.known else f"[{text}]"


def printable(text: str) -> str:
    """A text in which `\ufffd` stands for what is no sign: a terminal would obey control characters."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)


def _painted(shown: str, strength: float, underlined: bool) -> str:
    steps = _FOR if strength >= 0 else _AGAINST
    colour = steps[round(abs(strength) * (len(steps) - 1))]
    line = ";4" if underlined else ""
    return f"\x1b[38;5;{_BLACK};48;5;{colour}{line}m{shown}{_RESET}"
