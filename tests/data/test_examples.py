from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from faithboard.data.examples import examples_of
from faithboard.data.fingerprint import Fingerprint
from faithboard.errors import DataError
from faithboard.task import Example, Record, Source, Task, TextRules


def task(**rules: Any) -> Task:
    source = Source("t", "c", "l", "u")
    return Task(name="t", version=1, source=source, labels=("no", "yes"), folder="t", text=TextRules(**rules))


def text(length: int, label: str = "no", **changes: Any) -> Record:
    return Record(f"{length}-{label}", ("word",) * length, label, **changes)


def test_every_row_is_used_or_counted() -> None:
    records = [text(0), None, text(2), text(3), text(4, "yes"), text(5), None]
    examples, counts = examples_of(task(more_than=2, fewer_than=5), "train", records, Fingerprint())
    assert [len(example.tokens) for example in examples] == [3, 4]
    assert [example.label for example in examples] == [0, 1]
    assert (counts.read, counts.excluded_rule, counts.excluded_short, counts.excluded_long) == (7, 2, 2, 1)
    assert counts.used == 2
    assert counts.read == counts.excluded_rule + counts.excluded_short + counts.excluded_long + counts.used
    assert counts.per_class_before == {"no": 4, "yes": 1}
    assert counts.per_class == {"no": 1, "yes": 1}
    assert counts.average_length == 3.5


def test_long_texts_are_cut_visibly_with_their_rationale() -> None:
    record = Record("r", ("a", "b", "c", "d"), "yes", ("q",) * 9, ((0, 1), (2, 4)), query_rationale=((0, 9),))
    (cut, whole), counts = examples_of(task(max_tokens=3), "test", [record, text(3)], Fingerprint())
    assert cut == Example("r", ("a", "b", "c"), ("q",) * 9, 1, (True, False, True), (True,) * 9, truncated=1)
    assert whole.truncated == 0
    assert (counts.truncated, counts.tokens_cut) == (1, 1)


def test_one_token_texts_are_excluded_by_default() -> None:
    examples, counts = examples_of(task(), "train", [text(0), text(1), text(2)], Fingerprint())
    assert (len(examples), counts.excluded_short) == (1, 2)


def test_both_sentences_must_be_long_enough_where_both_are_explained() -> None:
    records = [text(3, query=("q",) * length) for length in (0, 1, 2, 3)] + [text(2, query=("q",) * 3)]
    both = replace(task(more_than=2), layout="pair", explained=("text", "query"))
    examples, counts = examples_of(both, "train", records, Fingerprint())
    assert [(len(example.tokens), len(example.query)) for example in examples] == [(3, 3)]
    assert counts.excluded_short == 4


@pytest.mark.parametrize(("layout", "used"), [("pair", 1), ("sequence", 1), ("single", 2)])
def test_an_empty_query_is_too_short_where_there_should_be_one(layout: Any, used: int) -> None:
    records = [text(3, query=()), text(3, query=("q",))]
    examples, counts = examples_of(replace(task(more_than=2), layout=layout), "train", records, Fingerprint())
    assert (len(examples), counts.excluded_short) == (used, 2 - used)


def test_candidates_become_class_numbers() -> None:
    (example,), _ = examples_of(task(), "train", [text(2, candidates=("yes", "no"))], Fingerprint())
    assert example.candidates == (0, 1)


@pytest.mark.parametrize("record", [text(3, "?"), text(3, candidates=("yes", "?"))])
def test_a_label_outside_the_set_names_record_and_labels(record: Record) -> None:
    with pytest.raises(DataError, match=r"record 3-.*label .\?.; known: no, yes"):
        examples_of(task(), "train", [record], Fingerprint())


def test_a_split_without_usable_text_is_an_error() -> None:
    with pytest.raises(DataError, match=r"dev split has no usable text \(1 rows read\)"):
        examples_of(task(), "dev", [text(1)], Fingerprint())


def fingerprint(*records: Record, split: str = "train", **rules: Any) -> str:
    collected = Fingerprint()
    examples_of(task(**rules), split, [*records, text(9)], collected)
    return collected.hexdigest()


def test_the_fingerprint_sees_content_but_neither_order_ids_nor_length_rules() -> None:
    one, two = Record("1", ("a", "b"), "no"), Record("2", ("c", "d"), "yes")
    same = fingerprint(one, two)
    assert fingerprint(two, one) == same
    assert fingerprint(Record("other", ("A", "b"), "no"), two) == same  # lower case is a word rule
    assert fingerprint(one, two, more_than=2, max_tokens=5) == same


def test_the_fingerprint_sees_each_part() -> None:
    one = Record("1", ("a", "b"), "no", ("q",), rationale=((0, 1),))
    others = [
        Record("1", ("a", "c"), "no", ("q",), rationale=((0, 1),)),
        Record("1", ("a", "b"), "yes", ("q",), rationale=((0, 1),)),
        Record("1", ("a", "b"), "no", ("r",), rationale=((0, 1),)),
        Record("1", ("a", "b"), "no", ("q",), rationale=((1, 2),)),
        Record("1", ("a", "b"), "no", ("q",)),
        Record("1", ("a b",), "no", ("q",), rationale=((0, 1),)),
    ]
    queries: list[tuple[tuple[int, int], ...]] = [(), ((0, 1),)]
    others += [Record("1", ("a", "b"), "no", ("q",), ((0, 1),), query_rationale=spans) for spans in queries]
    prints = [fingerprint(record) for record in (one, *others)]
    prints += [fingerprint(one, one), fingerprint(one, split="dev"), fingerprint()]
    assert len(set(prints)) == 12
