from __future__ import annotations

import pytest

from faithboard.errors import DataError
from faithboard.readers.babi import Question, read_stories

LINES = """1 Mary moved to the bathroom.
2 John went to the hallway.
3 Where is Mary? \tbathroom\t1
4 Mary got the milk there.
5 Where is the milk? \tbathroom\t4 1
1 Sandra went to the office.
2 Where is Sandra? \toffice\t1""".splitlines()


def test_questions_have_the_story_so_far_and_whole_supporting_sentences() -> None:
    first, second = read_stories(enumerate(LINES, 1), "qa1")
    assert [question.answer for question in first] == ["bathroom", "bathroom"]
    assert first[0].words == ("Where", "is", "Mary", "?")
    assert first[0].story[:6] == ("Mary", "moved", "to", "the", "bathroom", ".")
    spans = first[1].supporting
    assert [" ".join(first[1].story[a:b]) for a, b in spans] == [
        "Mary got the milk there .",
        "Mary moved to the bathroom .",
    ]
    assert "?" not in first[1].story
    assert second == (
        Question(
            2, ("Sandra", "went", "to", "the", "office", "."), ("Where", "is", "Sandra", "?"), "office", ((0, 6),)
        ),
    )


def test_an_empty_file_has_no_story() -> None:
    assert list(read_stories([], "qa1")) == []


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("Mary went home.", "no number and text"),
        ("4", "no number and text"),
        ("5 Mary went home.", "number 5 after 3"),
        ("4 Where is Mary? \tbathroom", "2 tab-separated parts"),
        ("4 Where is Mary? \t\t1", "an empty one"),
        ("4 Where is Mary? \tbathroom\t3", "supporting line 3"),
        ("4 Where is Mary? \tbathroom\tone", "supporting line one"),
    ],
)
def test_a_broken_line_names_file_line_and_what_is_expected(line: str, what: str) -> None:
    with pytest.raises(DataError, match=what) as caught:
        list(read_stories(enumerate([*LINES[:3], line], 1), "qa1.txt"))
    assert str(caught.value).startswith("qa1.txt, line 4: ")
    assert "expected `N sentence`" in str(caught.value)
