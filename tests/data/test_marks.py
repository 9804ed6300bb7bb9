"""The average share of marked tokens, and how well several people agree."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sklearn.metrics import f1_score

from faithboard.data.examples import examples_of
from faithboard.data.fingerprint import Fingerprint
from faithboard.data.marks import agreement
from faithboard.data.text import words_of
from faithboard.task import Record, Source, Task, TextRules

TASK = Task("t", 1, Source("t", "c", "l", "u"), ("no", "yes"), "t", rationale="human")


def flags(*lines: str) -> list[list[bool]]:
    return [[letter == "x" for letter in line] for line in lines]


def test_each_against_the_union_of_the_others_by_hand() -> None:
    # xx.. against .xx.: 1 of 2 and 2; .x.. against xxx.: 1 of 1 and 3; ..x. against xx..: none.
    assert agreement(flags("xx..", ".x..", "..x.")) == pytest.approx((2 / 4 + 2 / 4 + 0) / 3)


def test_as_scikit_learn_has_it() -> None:
    marks = flags("xx.x.x", "x..x..", ".x.xx.")
    found = []
    for at, own in enumerate(marks):
        others = [any(pair) for pair in zip(*(marks[i] for i in range(3) if i != at), strict=True)]
        found.append(f1_score(others, own))
    assert agreement(marks) == pytest.approx(sum(found) / 3)


def test_whoever_marks_nothing_agrees_with_nobody_that_does() -> None:
    assert agreement(flags("...", "x..")) == 0.0
    assert agreement(flags("...", "x..", "x..")) == pytest.approx((0 + 1 + 1) / 3)


@pytest.mark.parametrize("marks", [[], flags("x.."), flags("...", "..."), [[], []]])
def test_without_two_people_or_any_mark_there_is_nothing_to_agree_on(marks: list[list[bool]]) -> None:
    assert agreement(marks) is None


def record(name: str, *spans: tuple[int, int], query: str = "q q", **changes: object) -> Record:
    plain = Record(name, ("a", "b", "c", "d"), "no", tuple(query.split()), rationale=spans)
    return replace(plain, **changes)  # type: ignore[arg-type]


def test_the_share_is_the_mean_over_texts_that_have_a_marked_token() -> None:
    records = [record("1", (0, 1)), record("2", (0, 2), (3, 4)), record("3"), record("4", rationale=None)]
    _, counts = examples_of(TASK, "dev", records, Fingerprint())
    assert counts.rationale_share == (0.25 + 0.75) / 2
    assert counts.agreement is None
    _, counts = examples_of(TASK, "dev", records[2:], Fingerprint())
    assert counts.rationale_share is None


def test_the_share_is_one_of_the_tokens_that_are_explained_and_used() -> None:
    both = replace(TASK, layout="sequence", explained=("text", "query"), text=TextRules(max_tokens=3))
    records = [record("1", (0, 1), (3, 4), query="q q q", query_rationale=((1, 3),))]
    _, counts = examples_of(both, "dev", records, Fingerprint())
    assert counts.rationale_share == 3 / 6
    _, counts = examples_of(replace(both, explained=("text",)), "dev", records, Fingerprint())
    assert counts.rationale_share == pytest.approx(1 / 3, abs=1e-6)


def test_the_share_does_not_depend_on_the_order_of_texts() -> None:
    records = [record(str(at), (0, 1 + at % 4)) for at in range(7)]
    shares = {examples_of(TASK, "dev", order, Fingerprint())[1].rationale_share for order in (records, records[::-1])}
    assert len(shares) == 1


def test_what_each_person_marked_becomes_flags_over_text_and_query() -> None:
    people = ((((0, 3),), ()), (((4, 9),), ((0, 3),)))
    words = words_of(Record("r", "She isn't.", "no", "Is she?", ((0, 9),), ((0, 3),), annotators=people), TextRules())
    assert words.text + words.query == ("she", "is", "n't", ".", "is", "she", "?")
    assert [list(own) for own in words.annotators] == flags("x......", ".xx.x..")
    plain = words_of(Record("r", "She isn't.", "no", "Is she?", ((0, 9),), ((0, 3),)), TextRules())
    assert (words.rationale, words.query_rationale) == (plain.rationale, plain.query_rationale)
    assert plain.annotators == ()


def test_agreement_is_a_number_of_the_split_and_no_part_of_its_content() -> None:
    people = ((((0, 1),), ()), (((0, 2),), ()))
    one, other = record("1", (0, 2), annotators=people), record("2", (0, 2))
    with_people, without = Fingerprint(), Fingerprint()
    _, counts = examples_of(TASK, "dev", [one, other], with_people)
    assert counts.agreement == pytest.approx(2 / 3, abs=1e-6)
    examples_of(TASK, "dev", [record("1", (0, 2)), other], without)
    assert with_people.hexdigest() == without.hexdigest()
