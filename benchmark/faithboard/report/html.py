"""Explained texts as one HTML page that needs nothing beside itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from faithboard.report.coloured import prediction, reading, strengths
from faithboard.texts import ExplainedText, MethodScores, Word

_FOR, _AGAINST = "64,150,230", "240,130,40"
"""Blue and orange: they differ for almost every eye, and black stays legible on both."""
_STYLE = """
:root { color-scheme: light; }
body { background: #fff; color: #111; font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.1rem; margin-top: 2.5rem; border-top: 1px solid #ccc; padding-top: 1rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .2rem; } h3 small { font-weight: normal; color: #555; }
p { margin: .3rem 0; } .words { line-height: 2; } .words span { padding: .15rem .2rem; border-radius: .2rem; }
.rationale { text-decoration: underline; text-decoration-thickness: 2px; text-underline-offset: 4px; }
.unknown { outline: 1px dashed #888; } .reason { color: #a00; white-space: pre-wrap; } footer, .key { color: #555; }
footer { margin-top: 3rem; font-size: .9rem; }
"""


def html_page(title: str, model: str, texts: Sequence[ExplainedText]) -> str:
    """A page with every text and its methods one below the other. `model` is a line that says what explained it."""
    marked = any(word.rationale for text in texts for word in text.words)
    unknown = any(not word.known for text in texts for word in text.words)
    body = [part for text in texts for part in _text(text)]
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{_STYLE}</style></head>",
            "<body>",
            f"<h1>{escape(title)}</h1>",
            f"<p>{escape(model)}</p>",
            *_key(marked, unknown),
            *body,
            "<footer>Written by faithboard. Colours compare words within one method; point at a word for its score."
            "</footer>",
            "</body></html>",
            "",
        ]
    )


def _key(marked: bool, unknown: bool) -> Iterator[str]:
    yield (
        f'<p class="key words"><span style="background:rgba({_FOR},.8)">for the predicted class</span> '
        f'<span style="background:rgba({_AGAINST},.8)">against it</span> (unsigned scores: the more, the bluer)'
    )
    if marked:
        yield ' <span class="rationale">marked in the data</span>'
    if unknown:
        yield ' <span class="unknown">not in the vocabulary, read as &lt;unk&gt;</span>'
    yield "</p>"


def _text(text: ExplainedText) -> Iterator[str]:
    yield f"<h2>{escape(text.example)}</h2>"
    yield f"<p>{escape(prediction(text))}</p>"
    yield from (f"<p>{escape(said)}</p>" for said in reading(text))
    if text.truncated:
        yield f"<p>{text.truncated} words are cut off at the task's length limit.</p>"
    if shown := [word for word in text.words if not word.scored]:
        yield f'<p class="words">query: {" ".join(_word(word) for word in shown)}</p>'
    for method in text.methods:
        yield from _method(text, method)


def _method(text: ExplainedText, method: MethodScores) -> Iterator[str]:
    sign = "signed" if method.signed else "unsigned"
    yield f"<h3>{escape(method.method)} <small>{sign}</small></h3>"
    if method.scores is None:
        yield f'<p class="reason">{escape(method.reason)}</p>'
        return
    words = [word for word in text.words if word.scored]
    parts = zip(words, method.scores, strengths(method.scores), strict=True)
    yield f'<p class="words">{" ".join(_word(word, score, strength) for word, score, strength in parts)}</p>'


def _word(word: Word, score: float | None = None, strength: float = 0.0) -> str:
    classes = " ".join(["rationale"] * word.rationale + ["unknown"] * (not word.known))
    attributes = f' class="{classes}"' if classes else ""
    if score is not None:
        colour = _FOR if strength >= 0 else _AGAINST
        attributes += f' style="background:rgba({colour},{0.8 * abs(strength):.2f})" title="{score:.4g}"'
    return f"<span{attributes}>{escape(word.text)}</span>"
