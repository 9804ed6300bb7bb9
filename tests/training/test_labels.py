"""Training on shuffled labels: who is dealt what, and a model that cannot learn from it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import torch

from faithboard.config import ModelConfig, TrainingConfig
from faithboard.data import TaskData
from faithboard.models import build
from faithboard.running.weights import weights_sha256
from faithboard.training import RANDOM_LABELS, STANDARD, Training, train
from faithboard.training.labels import shuffled_labels
from tests.training.tiny import examples, tiny


def test_labels_are_permuted_and_nothing_else_changes() -> None:
    texts = examples("train", 200)
    found = shuffled_labels(texts, 0)
    assert Counter(one.label for one in found) == Counter(one.label for one in texts)
    assert [replace(a, label=b.label) for a, b in zip(found, texts, strict=True)] == texts
    moved = sum(a.label != b.label for a, b in zip(found, texts, strict=True))
    assert 60 < moved < 140


def test_the_seed_alone_decides() -> None:
    texts = examples("train", 100)
    assert shuffled_labels(texts, 1) == shuffled_labels(texts, 1)
    assert shuffled_labels(texts, 1) != shuffled_labels(texts, 2)


def test_every_answer_stays_among_its_candidates() -> None:
    texts = [
        replace(one, label=2 * (at % 2) + at % 2, candidates=(0, 1) if at % 2 == 0 else (2, 3))
        for at, one in enumerate(examples("train", 60))
    ]
    found = shuffled_labels(texts, 0)
    assert all(one.label in (one.candidates or ()) for one in found)
    assert {one.label for one in found} == {0, 1, 2, 3}


def trained(data: TaskData, training: Training, seed: int) -> str:
    matrix = torch.randn(len(data.vocabulary), 8, generator=torch.Generator().manual_seed(0))
    model = build(ModelConfig(hidden=4), data.task, matrix, data.vocabulary.specials, seed=0)
    train(model, data, TrainingConfig(epochs=2, batch_size=32, procedure=training.name), seed, training)
    return weights_sha256(model.state_dict())


def test_it_is_standard_training_on_texts_with_shuffled_labels() -> None:
    data = tiny()
    before = list(data.splits["train"])
    dealt = replace(data, splits={**data.splits, "train": shuffled_labels(before, 5)})
    found = trained(data, RANDOM_LABELS, 5)
    assert found == trained(dealt, STANDARD, 5)
    assert found != trained(data, STANDARD, 5)
    assert data.splits["train"] == before
