"""What trainings cost beside each other: seconds of an epoch, and the memory that graphs hold, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.config import ModelConfig, TrainingConfig
from faithboard.models import AttentionClassifier, build
from faithboard.rng import Rng
from faithboard.training import BUILTIN, STANDARD, Procedure, Training
from faithboard.training.cost import step_memory, training_cost
from tests.training.tiny import tiny

CONFIG = TrainingConfig(epochs=3, batch_size=16)
ONE_MB = 2**18
"""Numbers of float32 in a MiB."""


def fresh() -> AttentionClassifier:
    data = tiny()
    return build(
        ModelConfig(hidden=8), data.task, torch.randn(len(data.vocabulary), 8), data.vocabulary.specials, seed=0
    )


def training(procedure: Procedure) -> Training:
    return Training("own", lambda supervised, config, vocabulary: procedure, source="a test")


def held(model: Classifier, size: int) -> Tensor:
    """A loss whose graph holds `size` numbers, and one number and the parameter besides."""
    return (next(model.parameters()).flatten()[0] * torch.ones(size)).exp().sum()


@pytest.mark.parametrize(
    ("sizes", "expected"), [((4,), 4), ((4, 3), 7), ((), 0)], ids=["one graph", "two at once", "none"]
)
def test_what_graphs_hold_is_counted(sizes: tuple[int, ...], expected: int) -> None:
    def loss(model: Classifier, batch: Batch, labels: Tensor, rng: Rng) -> Tensor:
        start = next(model.parameters()).flatten()[0]
        # exp keeps its result, and the product keeps the ones: twice the size.
        return sum((held(model, size * ONE_MB // 2) for size in sizes), start)

    assert step_memory(fresh(), tiny(), CONFIG, training(loss)) == pytest.approx(expected, abs=0.01)


def test_weights_count_for_nothing() -> None:
    model = fresh()
    model.large = torch.nn.Parameter(torch.ones(ONE_MB))
    square = training(lambda model, batch, labels, rng: model.get_parameter("large").square().sum())
    assert step_memory(model, tiny(), CONFIG, square) == 0


def test_a_graph_that_is_gone_counts_no_more() -> None:
    def loss(model: Classifier, batch: Batch, labels: Tensor, rng: Rng) -> Tensor:
        for _ in range(3):
            torch.autograd.grad(held(model, ONE_MB), next(model.parameters()))
        return held(model, ONE_MB // 2)

    assert step_memory(fresh(), tiny(), CONFIG, training(loss)) == pytest.approx(2, abs=0.01)


def test_the_step_leaves_the_model_as_it_was() -> None:
    model = fresh()
    before = [value.clone() for value in model.parameters()]
    state = torch.random.get_rng_state()
    step_memory(model, tiny(), CONFIG, STANDARD)
    assert all(torch.equal(one, other) for one, other in zip(before, model.parameters(), strict=True))
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not model.training
    assert torch.equal(state, torch.random.get_rng_state())


def test_trainings_are_measured_in_one_run_on_copies() -> None:
    model = fresh()
    before = [value.clone() for value in model.parameters()]
    found = training_cost(model, tiny(), CONFIG, BUILTIN, rounds=2)
    assert list(found) == [training.name for training in BUILTIN]
    assert all(cost.seconds_per_epoch > 0 for cost in found.values())
    # Each text and its masked copy: twice the activations.
    ratio = found["saliency-guided"].memory_mb / found["standard"].memory_mb
    assert 1.9 < ratio < 2.2
    assert found["random-masking"].memory_mb == pytest.approx(found["saliency-guided"].memory_mb, rel=0.02)
    assert all(torch.equal(one, other) for one, other in zip(before, model.parameters(), strict=True))
    longer = replace(CONFIG, batch_size=64)
    assert step_memory(model, tiny(), longer, STANDARD) > 2 * found["standard"].memory_mb
