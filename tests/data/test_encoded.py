"""Texts encoded once give the batches that collating them gives."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from faithboard.data import encoded
from faithboard.data.collate import collate
from faithboard.data.encoded import Encoded
from faithboard.task import Example, Task
from tests.training.tiny import PAIR, TASK, examples, tiny

SEQUENCE = replace(TASK, layout="sequence", explained=("text", "query"))


@pytest.mark.parametrize("task", [TASK, PAIR, SEQUENCE], ids=lambda task: task.layout)
def test_batches_equal_collated_ones(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoded, "CHUNK", 3)
    data, texts = tiny(task), examples("train", 10)
    rows = torch.tensor([7, 0, 9, 3])
    ours = Encoded.of(texts, data.vocabulary, task)
    batch, expected = ours.batch(rows), collate([texts[row] for row in rows], data.vocabulary, task)
    for field in ("ids", "segment", "real", "scorable"):
        assert torch.equal(getattr(batch, field), getattr(expected, field)), field
    assert batch.example_id == expected.example_id
    assert batch.candidates is None
    assert ours.labels[rows].tolist() == [texts[row].label for row in rows]


def test_candidates_are_kept_also_where_only_some_texts_have_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoded, "CHUNK", 1)
    free, bound = Example("a", ("a", "b"), ("which",), 0), Example("b", ("a",), ("which",), 1, candidates=(1, 2))
    batch = Encoded.of([free, bound], tiny(PAIR).vocabulary, PAIR).batch(torch.tensor([1, 0]))
    assert batch.candidates is not None
    assert batch.candidates.tolist() == [[False, True, True], [True, True, True]]


def test_no_texts_at_all() -> None:
    nothing = Encoded.of([], tiny().vocabulary, TASK)
    assert len(nothing) == 0
    assert nothing.batch(torch.tensor([], dtype=torch.long)).ids.shape == (0, 0)
