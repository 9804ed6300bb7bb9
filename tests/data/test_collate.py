from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from faithboard.data.collate import collate, rationale_mask
from faithboard.data.vocabulary import Vocabulary
from faithboard.errors import ContractError
from faithboard.task import Example, Source, Task

VOCABULARY = Vocabulary.of(["a", "b", "c", "q"])
PAD, UNK, BEGIN, END, SEP, A, B, C, Q = range(9)


def task(**changes: Any) -> Task:
    source = Source("t", "c", "l", "u")
    return Task(name="t", version=1, source=source, labels=("x", "y", "z"), folder="t", **changes)


LONG = Example("long", ("a", "b", "c"), ("q",), 0, rationale=(False, True, True))
SHORT = Example("short", ("b",), ("q", "q"), 1)


def test_single_text_is_wrapped_and_padded_on_the_right() -> None:
    batch = collate([LONG, SHORT], VOCABULARY, task())
    assert batch.ids.tolist() == [[BEGIN, A, B, C, END], [BEGIN, B, END, PAD, PAD]]
    assert batch.real.tolist() == [[True] * 5, [True, True, True, False, False]]
    assert batch.scorable.tolist() == [[False, True, True, True, False], [False, True, False, False, False]]
    assert batch.segment.sum() == 0
    assert batch.example_id == ("long", "short")
    assert batch.candidates is None


def test_pair_puts_the_query_into_segment_1_and_explains_the_text_alone() -> None:
    batch = collate([SHORT], VOCABULARY, task(layout="pair"))
    assert batch.ids.tolist() == [[BEGIN, B, END, BEGIN, Q, Q, END]]
    assert batch.segment.tolist() == [[0, 0, 0, 1, 1, 1, 1]]
    assert batch.scorable.tolist() == [[False, True, False, False, False, False, False]]


def test_sequence_closes_each_segment_with_a_separator() -> None:
    batch = collate([SHORT], VOCABULARY, task(layout="sequence", explained=("text", "query")))
    assert batch.ids.tolist() == [[B, SEP, Q, Q, SEP]]
    assert batch.segment.tolist() == [[0, 0, 1, 1, 1]]
    assert batch.scorable.tolist() == [[True, False, True, True, False]]


def test_sequence_without_query_ends_after_the_first_separator() -> None:
    batch = collate([Example("e", ("a",), (), 0)], VOCABULARY, task(layout="sequence"))
    assert batch.ids.tolist() == [[A, SEP]]


def test_candidates_are_a_mask_and_texts_without_any_have_all() -> None:
    batch = collate([Example("e", ("a",), (), 0, candidates=(0, 2)), LONG], VOCABULARY, task())
    assert batch.candidates is not None
    assert batch.candidates.tolist() == [[True, False, True], [True, True, True]]


def test_an_empty_text_and_no_text_at_all_give_batches() -> None:
    assert collate([Example("e", (), (), 0)], VOCABULARY, task()).ids.tolist() == [[BEGIN, END]]
    assert collate([], VOCABULARY, task()).ids.shape[0] == 0


def test_rationale_flags_land_on_their_tokens() -> None:
    batch = collate([SHORT, LONG], VOCABULARY, task(layout="pair"))
    mask = rationale_mask([SHORT, LONG], batch)
    assert not mask[0].any()
    assert batch.ids[1][mask[1]].tolist() == [B, C]
    assert torch.equal(mask & batch.scorable, mask)


def test_flags_of_text_and_query_land_in_their_segment() -> None:
    both = replace(LONG, query=("q", "c"), query_rationale=(False, True))
    query_only = replace(SHORT, query_rationale=(True, False))
    batch = collate([query_only, both], VOCABULARY, task(layout="sequence", explained=("text", "query")))
    mask = rationale_mask([query_only, both], batch)
    assert mask.tolist() == [
        [False, False, True, False, False, False, False],
        [False, True, True, False, False, True, False],
    ]


def test_rationale_of_another_batch_is_refused() -> None:
    batch = collate([SHORT, LONG], VOCABULARY, task())
    with pytest.raises(ContractError, match="long"):
        rationale_mask([replace(LONG, id="longer"), SHORT], collate([LONG, SHORT], VOCABULARY, task()))
    with pytest.raises(ContractError, match="does not fit"):
        rationale_mask([SHORT, LONG], batch.without(batch.scorable))
