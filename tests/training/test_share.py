"""The rule for k: the largest share that costs at most a point of dev accuracy."""

from __future__ import annotations

import pytest
import torch

from faithboard.classifier import Classifier
from faithboard.config import ModelConfig, TrainingConfig
from faithboard.models import build
from faithboard.training import RANDOM_MASKING, share
from faithboard.training.share import SHARES, choose_share, chosen
from tests.training.tiny import tiny


@pytest.mark.parametrize(
    ("accuracy", "expected"),
    [
        ({0.1: 0.80, 0.2: 0.80, 0.3: 0.79, 0.5: 0.78}, 0.3),
        ({0.1: 0.70, 0.2: 0.78, 0.3: 0.78, 0.5: 0.795}, 0.5),
        ({0.1: 0.82, 0.2: 0.78, 0.3: 0.78, 0.5: 0.78}, 0.1),
        ({0.1: 0.7, 0.2: 0.7, 0.3: 0.7, 0.5: 0.7}, None),
    ],
    ids=["a point less is allowed", "not monotone", "better is fine", "none"],
)
def test_the_largest_within_a_point(accuracy: dict[float, float], expected: float | None) -> None:
    assert chosen(0.8, accuracy) == expected


def test_every_candidate_is_trained_and_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    data = tiny()
    trained: list[tuple[str, float, int]] = []
    told: list[str] = []

    def fresh(seed: int) -> Classifier:
        matrix = torch.randn(len(data.vocabulary), 4, generator=torch.Generator().manual_seed(seed))
        return build(ModelConfig(hidden=4), data.task, matrix, data.vocabulary.specials, seed=seed)

    def accuracy(model: Classifier, data: object, config: TrainingConfig, seed: int, training: object) -> float:
        trained.append((config.procedure, config.mask_share, seed))
        base = 0.9 - (config.mask_share if config.procedure != "standard" else 0.0) / 25
        return base + 0.002 * seed

    monkeypatch.setattr(share, "_dev_accuracy", accuracy)
    config = TrainingConfig(mask_share=0.9, init="standard")
    found = choose_share(fresh, data, config, [0, 1], RANDOM_MASKING, progress=lambda title, _: told.append(title))
    assert [seed for name, _, seed in trained if name == "standard"] == [0, 1]
    assert [(k, seed) for name, k, seed in trained if name == "random-masking"] == [
        (k, s) for k in SHARES for s in (0, 1)
    ]
    # Means over seeds: 0.901 and 0.901 - k / 25; 0.3 costs 0.012.
    assert found.standard == pytest.approx(0.901)
    assert found.accuracy == pytest.approx({k: 0.901 - k / 25 for k in SHARES})
    assert found.share == 0.2
    assert told == ["standard", *(f"random-masking, k = {k}" for k in SHARES)]


def test_it_trains_for_real() -> None:
    data = tiny()
    matrix = torch.randn(len(data.vocabulary), 8, generator=torch.Generator().manual_seed(0))

    def fresh(seed: int) -> Classifier:
        return build(ModelConfig(hidden=8), data.task, matrix, data.vocabulary.specials, seed=seed)

    found = choose_share(fresh, data, TrainingConfig(epochs=3, batch_size=16, learning_rate=0.01), [0])
    assert found.standard > 0.9
    assert set(found.accuracy) == set(SHARES)
