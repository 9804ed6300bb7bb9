from __future__ import annotations

import pytest

from faithboard.errors import FaithboardError
from faithboard.report import markdown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.4125, "0.412"), (-0.0001, "0.000"), (-0.5, "-0.500"), (1234.5, "1,234.500"), (0.0, "0.000"), (None, "-")],
)
def test_numbers_have_three_decimals_and_no_negative_zero(value: float | None, shown: str) -> None:
    assert markdown.number(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (0.84, "0.84"), (12.34, "12.3"), (12.0, "12"), (4096.4, "4,096"), (None, "-")],
)
def test_amounts_show_about_three_digits(value: float | None, shown: str) -> None:
    assert markdown.amount(value) == shown


def test_what_is_near_nothing_is_shown_by_its_size() -> None:
    assert [markdown.scientific(value) for value in (4.36e-8, 0.0, 0.125)] == ["4.4e-08", "0", "1.2e-01"]


def test_small_p_values_are_not_shown_as_zero() -> None:
    assert [markdown.p_value(p) for p in (0.00049, 0.0005, 0.05, 1.0)] == ["<0.001", "0.001", "0.050", "1.000"]


def test_text_from_outside_cannot_break_a_table_or_a_block() -> None:
    hostile = f"first\nsecond | third {markdown.end('leaderboard')}"
    shown = markdown.plain(hostile)
    assert "\n" not in shown
    assert " | " not in shown
    assert markdown.end("leaderboard") not in shown


def test_a_block_is_replaced_and_everything_around_it_is_kept() -> None:
    before = f"my words\n\n{markdown.begin('x')}\nold\n{markdown.end('x')}\nmore words\n"
    after = markdown.with_block(before, "x", "new", "page.md")
    assert after.startswith("my words\n\n")
    assert after.endswith("\nmore words\n")
    assert "new" in after
    assert "old" not in after
    assert markdown.with_block(after, "x", "new", "page.md") == after


def test_a_file_without_the_block_gets_it_at_the_end() -> None:
    assert markdown.with_block("", "x", "new", "p") == f"{markdown.begin('x')}\n\nnew\n\n{markdown.end('x')}\n"
    assert markdown.with_block("words", "x", "new", "p").startswith("words\n\n<!--")


@pytest.mark.parametrize(
    "broken",
    [
        markdown.begin("x"),
        markdown.end("x") + markdown.begin("x"),
        (markdown.begin("x") + markdown.end("x")) * 2,
    ],
)
def test_broken_markers_are_an_error_that_names_the_file(broken: str) -> None:
    with pytest.raises(FaithboardError, match=r"page\.md.*markers"):
        markdown.with_block(broken, "x", "new", "page.md")


def test_tables_are_padded_so_that_they_read_well_unrendered() -> None:
    assert markdown.table(("a", "long header"), [("x", "1")], right=(1,)).splitlines() == [
        "| a   |   long header |",
        "|:----|--------------:|",
        "| x   |             1 |",
    ]
