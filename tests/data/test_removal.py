"""Words taken out of examples are those that `Batch.without` deletes, in every layout."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from faithboard import Example, Source, Task
from faithboard.data.collate import collate
from faithboard.data.removal import bin_size, scorable_length, without
from faithboard.data.vocabulary import Vocabulary
from faithboard.metrics.eraser import bin_sizes

WORDS = ("a", "b", "c", "d", "e", "f")
VOCABULARY = Vocabulary.of(WORDS)
TASK = Task("toy", 1, Source("toy", "none", "none", "none", "generated"), ("no", "yes"), "toy")
LAYOUTS = [
    replace(TASK, layout="single"),
    replace(TASK, layout="pair"),
    replace(TASK, layout="sequence"),
    replace(TASK, layout="sequence", explained=("text", "query")),
    replace(TASK, layout="pair", explained=("text", "query")),
]


def examples(task: Task) -> list[Example]:
    query = () if task.layout == "single" else ("e", "f", "e")
    marks = (True,) * len(query)
    return [
        Example("one", ("a", "b", "a", "c"), query, 1, (True, False, True, False), marks, candidates=(0, 1)),
        Example("two", ("d", "unknown"), query, 0),
    ]


@pytest.mark.parametrize("task", LAYOUTS, ids=lambda task: f"{task.layout} of {' and '.join(task.explained)}")
@pytest.mark.parametrize("gone", ["none", "some", "all of a part", "all"])
def test_collated_they_are_the_batch_without_the_words(task: Task, gone: str) -> None:
    whole = examples(task)
    batch = collate(whole, VOCABULARY, task)
    drop = batch.scorable.clone()
    if gone == "none":
        drop[:] = False
    elif gone == "some":
        drop[:, ::2] = False
    elif gone == "all of a part":
        drop &= batch.segment == (1 if "query" in task.explained else 0)
    flags = [drop[row][batch.scorable[row]].tolist() for row in range(len(whole))]
    left = [without(example, own, task) for example, own in zip(whole, flags, strict=True)]
    found, expected = collate(left, VOCABULARY, task), batch.without(drop)
    for name in ("ids", "segment", "real", "scorable"):
        assert torch.equal(getattr(found, name), getattr(expected, name)), name
    assert (found.candidates is None) == (expected.candidates is None)
    assert [scorable_length(one, task) for one in left] == found.scorable_lengths.tolist()


def test_what_is_no_scored_word_stays_and_marks_are_left_out() -> None:
    (one, _) = examples(LAYOUTS[1])
    found = without(one, [True, False, False, True], LAYOUTS[1])
    assert found == replace(one, tokens=("b", "a"), rationale=None, query_rationale=None)


def test_another_number_of_flags_is_refused() -> None:
    with pytest.raises(ValueError, match="two has 2 scorable tokens, got 3 flags"):
        without(examples(TASK)[1], [True] * 3, TASK)


def test_sizes_are_rounded_up_in_integers() -> None:
    assert [bin_size(length, 10) for length in (0, 1, 9, 10, 11, 20)] == [0, 1, 1, 1, 2, 2]
    assert [bin_size(3, share) for share in (10, 30, 50, 70, 90, 100)] == [1, 1, 2, 3, 3, 3]
    shares = (1, 10, 30, 50, 70, 90)
    for length in range(1, 60):
        expected = bin_sizes(torch.ones(1, length, dtype=torch.bool), shares)[0].tolist()
        assert [bin_size(length, share) for share in shares] == expected
