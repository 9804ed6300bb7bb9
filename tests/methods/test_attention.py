"""Attention weights as scores."""

from __future__ import annotations

import torch

from faithboard import Rng
from tests.toy import MIXED, BagOfWords, methods_of, texts

METHODS = methods_of("attention.py")


def test_by_hand() -> None:
    batch = texts("good nice film", "dull")
    scores = METHODS["attention"](BagOfWords(attends=True), batch, Rng(0, batch)).scores
    torch.testing.assert_close(scores[0, 1:4], torch.tensor([2.0, 1.0, 0.0]).softmax(0))
    assert scores[1].tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]


def test_sums_to_one_over_the_scorable_tokens() -> None:
    batch = texts(*MIXED)
    scores = METHODS["attention"](BagOfWords(attends=True), batch, Rng(0, batch)).scores
    torch.testing.assert_close(scores.sum(1), torch.ones(len(batch)))
    assert METHODS["attention"].needs == {"attention"}
