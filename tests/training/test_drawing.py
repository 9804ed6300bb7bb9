"""Training on a part of the texts: which ones, and that the others have no part in it."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from faithboard.config import ModelConfig, TrainingConfig
from faithboard.errors import SuiteError
from faithboard.models import build
from faithboard.running.weights import weights_sha256
from faithboard.training import train
from faithboard.training.drawing import drawn
from tests.training.tiny import examples, tiny


def test_a_draw_keeps_the_order_and_lies_in_every_larger_one() -> None:
    texts = examples("train", 100)
    small, large = drawn(texts, 20, 0), drawn(texts, 60, 0)
    assert len(small) == 20
    assert [one for one in large if one in small] == list(small)
    assert [one for one in texts if one in large] == list(large)
    assert drawn(texts, 20, 1) != small
    assert drawn(texts, None, 0) == texts == list(drawn(texts, 100, 0))


def test_more_texts_than_there_are_are_refused() -> None:
    with pytest.raises(SuiteError, match="train_examples is 6, but there are 5 training texts"):
        drawn(examples("train", 5), 6, 0)


def test_the_texts_left_out_have_no_part_in_the_training() -> None:
    data = tiny()
    size = len(data.splits["train"]) // 2
    part = replace(data, splits={**data.splits, "train": drawn(data.splits["train"], size, 3)})
    matrix = torch.randn(len(data.vocabulary), 8, generator=torch.Generator().manual_seed(0))
    weights = []
    for texts, settings in ((data, TrainingConfig(epochs=1, train_examples=size)), (part, TrainingConfig(epochs=1))):
        model = build(ModelConfig(hidden=4), data.task, matrix, data.vocabulary.specials, seed=3)
        train(model, texts, settings, 3)
        weights.append(weights_sha256(model.state_dict()))
    assert weights[0] == weights[1]
