"""Greedy erasure: by hand, and against a loop that asks for one deletion of one text at a time."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from faithboard import Batch, Classifier, Rng, predict
from faithboard.classifier import count_steps
from tests.toy import MIXED, SEVERAL, BagOfWords, methods_of, recurrent, texts

GREEDY = methods_of("greedy.py")["greedy-erasure"]


def scores_of(model: Classifier, batch: Batch) -> Tensor:
    return GREEDY(model, batch, Rng(0, batch)).scores


def test_by_hand() -> None:
    batch = texts("dull good film nice", "bad dull bad", "what")
    scores = scores_of(BagOfWords(), batch)
    # The largest evidence for the class goes first; of equal words the first in the text.
    assert scores[0, 1:5].tolist() == pytest.approx([0.25, 1.0, 0.5, 0.75])
    assert scores[1, 1:4].tolist() == pytest.approx([1.0, 1 / 3, 2 / 3])
    assert scores[2, 1].item() == 1.0


@pytest.mark.parametrize("make", [recurrent, lambda: BagOfWords(SEVERAL, attends=True)])
def test_every_step_deletes_the_word_without_which_the_class_is_least_probable(make: type[BagOfWords]) -> None:
    model, batch = make(), texts(*MIXED)
    scores = scores_of(model, batch)
    for row in range(len(batch)):
        one = batch.rows([row])
        j = int(predict(model, one)[0].argmax())
        order = scores[row, : one.ids.shape[1]].masked_fill(~one.scorable[0], -1).argsort(descending=True)
        drop = torch.zeros_like(one.real)
        for chosen in order[: int(one.scorable_lengths)].tolist():
            p = {}
            for token in (one.scorable & ~drop)[0].nonzero()[:, 0].tolist():
                tried = drop.clone()
                tried[0, token] = True
                p[token] = float(predict(model, one.without(tried))[0, j])
            assert p[chosen] == pytest.approx(min(p.values()), abs=1e-5)
            drop[0, chosen] = True


def test_scores_fall_in_equal_steps() -> None:
    batch = texts(*MIXED)
    for row, words in zip(scores_of(recurrent(), batch), batch.scorable, strict=True):
        t = int(words.sum())
        assert row[words].sort(descending=True).values.tolist() == pytest.approx([(t - k) / t for k in range(t)])


def test_cost_is_every_deletion_of_what_is_left() -> None:
    model, batch = BagOfWords(), texts("good nice dull bad film")
    with count_steps(model) as steps:
        scores_of(model, batch)
    # With begin and end: the full text, then m texts of m - 1 words for m = 5 .. 2.
    assert steps.forward == 7 + sum(m * (m + 1) for m in (5, 4, 3, 2))
    assert GREEDY.steps is not None
    assert GREEDY.steps(5) == (5 + 5 * 4 + 4 * 3 + 3 * 2 + 2 * 1, 0)
