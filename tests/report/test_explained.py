"""Explained texts on a terminal and as a page."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser

import pytest

from faithboard.report.coloured import prediction, strengths, terminal_text
from faithboard.report.html import html_page
from faithboard.texts import ExplainedText, MethodScores, Word

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def word(text: str, *, known: bool = True, rationale: bool = False, scored: bool = True) -> Word:
    return Word(text, "text" if scored else "query", scored, known, rationale)


TEXT = ExplainedText(
    example="test-7",
    words=(word("good", rationale=True), word("<script>", known=False), word("bad"), word("what", scored=False)),
    labels=("neg", "pos"),
    probabilities=(0.066, 0.934),
    gold="neg",
    truncated=2,
    methods=(
        MethodScores("gradient-x-input", True, (0.5, 0.0, -0.25)),
        MethodScores("attention", False, None, "needs attention, which cnn-none has not"),
    ),
)


def test_the_prediction_comes_first_and_names_the_label() -> None:
    assert prediction(TEXT) == "predicted: pos (0.934); neg 0.066; the label is neg"


def test_strengths_are_shares_of_the_largest_score() -> None:
    assert strengths([0.5, 0.0, -0.25]) == [1.0, 0.0, -0.5]
    assert strengths([0.0, 0.0]) == [0.0, 0.0]
    assert strengths([]) == []


def test_without_colours_scores_stand_behind_the_words() -> None:
    shown = terminal_text(TEXT, colours=False)
    assert "good(0.5) [<script>](0) bad(-0.25)" in shown
    assert "query: what" in shown
    assert "rationale: good" in shown
    assert "2 words are cut off" in shown
    assert "attention\n  needs attention, which cnn-none has not" in shown
    assert "[words] are not in the vocabulary" in shown
    assert not ANSI.search(shown)


def test_how_an_own_text_was_read_is_said_in_one_line_and_a_text_of_unknown_words_is_warned_of() -> None:
    own = dataclasses.replace(TEXT, gold=None, changed=(("w12", "qqq"),))
    said = "read: by the task's rules w12 -> qqq; not in the vocabulary <script>"
    assert said in terminal_text(own, colours=False).splitlines()
    assert "qqq" in html_page("t", "m", [own])
    assert "warning" not in terminal_text(own, colours=False)
    unknown = dataclasses.replace(own, words=tuple(dataclasses.replace(one, known=False) for one in own.words[:3]))
    assert "warning: the model knows no word of this text" in terminal_text(unknown, colours=False)
    assert "read:" not in terminal_text(TEXT, colours=False)


def test_colours_grow_with_the_score_and_tell_its_sign() -> None:
    shown = terminal_text(TEXT, colours=True)
    painted = dict(re.findall(r"\x1b\[38;5;16;48;5;(\d+(?:;4)?)m([^\x1b]*)\x1b", shown))
    assert painted == {"75;4": "good", "231": "[<script>]", "223": "bad"}
    assert "good [<script>] bad" in ANSI.sub("", shown)
    assert "underlined words are marked in the data" in " ".join(shown.split())


@pytest.mark.parametrize("colours", [True, False])
def test_long_texts_are_wrapped(colours: bool) -> None:
    many = ExplainedText(
        "long", tuple(word(f"word{i}") for i in range(60)), ("a", "b"), (0.4, 0.6), None, 0,
        (MethodScores("m", False, tuple(float(i) for i in range(60))),),
    )  # fmt: skip
    lines = ANSI.sub("", terminal_text(many, colours=colours, width=50)).splitlines()
    assert max(map(len, lines)) <= 50
    assert sum(line.count("word") for line in lines) == 60


class Page(HTMLParser):
    """Tags that are open at the end, text, and links to anything outside."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.spans: list[dict[str, str | None]] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "meta":
            self.open.append(tag)
        if tag == "span":
            self.spans.append(dict(attrs))
        self.outside += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_needs_nothing_outside_and_escapes_words() -> None:
    text = html_page("Explanations: <sst>", "bilstm-additive on sst", [TEXT])
    page = Page()
    page.feed(text)
    assert page.open == []
    assert page.outside == []
    assert "url(" not in text
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "<title>Explanations: &lt;sst&gt;</title>" in text


def test_the_page_shows_scores_rationale_unknown_words_and_reasons() -> None:
    text = html_page("t", "m", [TEXT])
    page = Page()
    page.feed(text)
    scored = {span["title"]: span for span in page.spans if "title" in span}
    assert scored["0.5"]["class"] == "rationale"
    assert scored["0.5"]["style"] == "background:rgba(64,150,230,0.80)"
    assert scored["-0.25"]["style"] == "background:rgba(240,130,40,0.40)"
    assert scored["0"]["class"] == "unknown"
    assert "needs attention, which cnn-none has not" in text
    assert text.index("gradient-x-input") < text.index("needs attention")
    assert "query: <span>what</span>" in text


@pytest.mark.parametrize("colours", [True, False])
def test_control_characters_do_not_reach_the_terminal(colours: bool) -> None:
    words = (word("a\x1b[2Jb"), word("c\x07", known=False), word("d\x9b1m", scored=False))
    broken = MethodScores("broken", True, None, "it raised\n\tKeyError: '\x1b]0;title'")
    text = dataclasses.replace(
        TEXT, words=words, labels=("n\x1b[1m", "pos"), methods=(MethodScores("m", True, (1.0, 0.0)), broken)
    )
    shown = ANSI.sub("", terminal_text(text, colours=colours)) if colours else terminal_text(text, colours=colours)
    assert all(sign.isprintable() for sign in shown.replace("\n", ""))
    assert "a\ufffd[2Jb" in shown
    assert "[c\ufffd]" in shown
