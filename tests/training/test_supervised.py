"""The supervised loss by hand."""

from __future__ import annotations

import math

import pytest
import torch

from faithboard.config import TrainingConfig
from faithboard.training.supervised import CrossEntropy


def test_a_single_output_is_the_logit_of_class_1_and_positives_weigh_more() -> None:
    loss = CrossEntropy("sum", positive_weight=3.0)
    value = loss(torch.tensor([[0.0], [math.log(3.0)]]), torch.tensor([1, 0]))
    assert float(value) == pytest.approx(3 * math.log(2) + math.log(4))


def test_more_classes_are_averaged_or_summed() -> None:
    logits, labels = torch.log(torch.tensor([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]])), torch.tensor([0, 1])
    total = math.log(2) + math.log(4 / 3)
    assert float(CrossEntropy("sum")(logits, labels)) == pytest.approx(total)
    assert float(CrossEntropy("mean")(logits, labels)) == pytest.approx(total / 2)


def test_only_candidates_compete() -> None:
    candidates = torch.tensor([[True, True, False]])
    logits = torch.tensor([[0.0, 0.0, 9.0]], requires_grad=True)
    loss = CrossEntropy("sum")(logits, torch.tensor([0]), candidates)
    assert float(loss.detach()) == pytest.approx(math.log(2))
    (gradient,) = torch.autograd.grad(loss, logits)
    assert gradient.tolist() == [[-0.5, 0.5, 0.0]]


@pytest.mark.parametrize(
    ("weigh", "labels", "classes", "weight"),
    [
        (True, [0, 0, 0, 1], 2, 3.0),
        (False, [0, 0, 0, 1], 2, None),
        (True, [0, 1, 2], 3, None),
        (True, [1, 1], 2, None),
        (True, [0, 0], 2, None),
    ],
)
def test_the_weight_of_positives(weigh: bool, labels: list[int], classes: int, weight: float | None) -> None:
    assert CrossEntropy.of(TrainingConfig(weigh_positive=weigh), labels, classes).positive_weight == weight


def test_logits_of_mixed_precision_lose_no_more_digits() -> None:
    logits = torch.tensor([[1.0], [-3.0]], dtype=torch.bfloat16)
    value = CrossEntropy("sum")(logits, torch.tensor([1, 1]))
    assert value.dtype == torch.float32
    assert float(value) == pytest.approx(math.log1p(math.exp(-1.0)) + math.log1p(math.exp(3.0)), rel=1e-6)
