from __future__ import annotations

import sys

import pytest

from faithboard.data import text
from faithboard.data.text import normalise, tokenise, words_of
from faithboard.errors import DataError
from faithboard.task import Record, TextRules


def test_tokens_rebuild_the_text_they_came_from() -> None:
    published = "I don't  like it -- 3.5 stars (of 5)!\n\n\U0001f600 caf\u00e9"
    tokenised = tokenise(published)
    assert tokenised.words[:4] == ("I", "do", "n't", "like")
    assert "\U0001f600" in tokenised.words
    assert [published[start:end] for start, end in tokenised.offsets] == list(tokenised.words)
    assert not any(word.isspace() for word in tokenised.words)


def test_case_and_digit_rules() -> None:
    words = ("The", "B2B", "3.5", "-")
    assert normalise(words, TextRules()) == ("the", "qqq", "qqq", "-")
    assert normalise(words, TextRules(lower=False, digits=None)) == words


def test_published_tokens_are_not_tokenised_again() -> None:
    words = words_of(Record("r", ("don't", "U.S."), "x", ("Who's", "4")), TextRules())
    assert words.text == ("don't", "u.s.")
    assert words.query == ("who's", "qqq")
    assert words.rationale is None


def test_spans_over_published_tokens_become_flags() -> None:
    record = Record("r", ("a", "b", "c", "d"), "x", rationale=((1, 2), (3, 4)))
    assert words_of(record, TextRules()).rationale == (False, True, False, True)


def test_spans_over_characters_mark_every_word_they_touch() -> None:
    record = Record("r", "She isn't here.", "x", rationale=((4, 9),))
    words = words_of(record, TextRules())
    assert words.text == ("she", "is", "n't", "here", ".")
    assert words.rationale == (False, True, True, False, False)
    only_is = Record("r", "She isn't here.", "x", rationale=((4, 6),))
    assert words_of(only_is, TextRules()).rationale == (False, True, False, False, False)


def test_the_query_has_a_rationale_of_its_own() -> None:
    record = Record("r", ("a", "b"), "x", "She isn't here.", query_rationale=((0, 3), (10, 14)))
    words = words_of(record, TextRules())
    assert words.rationale is None
    assert words.query_rationale == (True, False, False, True, False)
    assert words_of(Record("r", "a b", "x", ("c", "d"), (), ((1, 2),)), TextRules()).query_rationale == (False, True)


@pytest.mark.parametrize("span", [(2, 4), (1, 1), (-1, 1)])
def test_a_rationale_outside_its_text_is_an_error(span: tuple[int, int]) -> None:
    with pytest.raises(DataError, match=r"record r: rationale .* text of 3 tokens"):
        words_of(Record("r", ("a", "b", "c"), "x", rationale=(span,)), TextRules())
    with pytest.raises(DataError, match=r"record r: query rationale .* text of 3 characters"):
        words_of(Record("r", ("a",), "x", "a b", query_rationale=(span,)), TextRules())


def test_no_tokeniser_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    text._english.cache_clear()
    with pytest.raises(DataError, match=r"faithboard\[text\]"):
        tokenise("a b")
