"""The random row: uniform, seeded by the example, and asked for ten times."""

from __future__ import annotations

import torch

from faithboard import Rng
from tests.toy import BagOfWords, methods_of, texts

RANDOM = methods_of("baselines.py")["random"]


def test_uniform_between_zero_and_one() -> None:
    batch = texts(*(["film " * 50] * 40))
    scores = RANDOM(BagOfWords(), batch, Rng(0, batch)).scores[batch.scorable]
    assert float(scores.min()) >= 0
    assert float(scores.max()) < 1
    assert abs(float(scores.mean()) - 0.5) < 0.03
    assert abs(float(scores.var()) - 1 / 12) < 0.01


def test_other_draws_are_independent_of_the_first() -> None:
    batch = texts("film " * 50)
    first, second = (RANDOM(BagOfWords(), batch, Rng(seed, batch)).scores for seed in (0, 1))
    correlation = torch.corrcoef(torch.stack([first[batch.scorable], second[batch.scorable]]))[0, 1]
    assert abs(float(correlation)) < 0.4
    assert RANDOM.draws == 10
    assert RANDOM.stochastic
