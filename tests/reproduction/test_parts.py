from __future__ import annotations

from faithboard.reproduction.lines import FigureLine, SuiteLine
from faithboard.reproduction.parts import figures, signed, title


def test_a_difference_has_its_sign() -> None:
    assert [signed(0.04), signed(-0.0123), signed(None)] == ["+0.040", "-0.012", "-"]


def test_a_title_says_what_was_run_and_what_must_be_known() -> None:
    suite = SuiteLine("tiny", 2, [0, 1], "Two words.", notes=["a | b"])
    assert title("A paper", "Somebody 2020.", suite).splitlines() == [
        "# A paper",
        "",
        "Somebody 2020. Suite tiny v2; seeds 0, 1. Two words.",
        r"- note: a \| b",
    ]


def test_figures_are_shown_with_their_captions_or_not_at_all() -> None:
    shown = list(figures([FigureLine("curve", "A curve", "Up.")], "folder"))
    assert shown == ["## Figures", "### A curve\n\n![A curve](folder/curve.png)\n\nUp. ([SVG](folder/curve.svg))"]
    assert not list(figures([], "folder"))
