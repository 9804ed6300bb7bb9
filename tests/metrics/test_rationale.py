"""precision@k: the share of marked tokens among the first k."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch

from faithboard.metrics.rationale import PRECISION_AT_K, precision_at_k, random_precision


def flags(text: str) -> torch.Tensor:
    return torch.tensor([[letter == "x" for letter in line] for line in text.split()])


def test_by_hand() -> None:
    scorable = flags(".xxxx. .xxxx. .xxxx.")
    marked = flags(".x..x. ..x... ...xx.")
    rank = torch.tensor([[4, 0, 2, 3, 1, 5], [4, 1, 0, 2, 3, 5], [4, 0, 1, 2, 3, 5]])
    assert precision_at_k(rank, marked, scorable).tolist() == [1.0, 1.0, 0.0]


def test_half_of_two() -> None:
    rank = torch.tensor([[0, 1, 2]])
    assert precision_at_k(rank, flags("x.x"), flags("xxx")).tolist() == [0.5]


def test_nothing_marked_is_undefined_not_zero() -> None:
    rank = torch.tensor([[0, 1, 2]])
    assert precision_at_k(rank, flags("..."), flags("xxx")).isnan().all()
    assert random_precision(flags("..."), flags("xxx")).isnan().all()


def test_marks_outside_the_scorable_tokens_do_not_count() -> None:
    rank = torch.tensor([[0, 1, 3]])
    assert precision_at_k(rank, flags(".xx"), flags("xx.")).tolist() == [0.0]
    assert random_precision(flags(".xx"), flags("xx.")).tolist() == [0.5]


def test_expectation_is_the_mean_over_all_orders() -> None:
    marked, scorable = flags("x..x."), flags("xxxxx")
    values = [float(precision_at_k(torch.tensor([order]), marked, scorable)) for order in permutations(range(5))]
    assert PRECISION_AT_K.expectation is not None
    assert float(PRECISION_AT_K.expectation(marked, scorable)) == pytest.approx(sum(values) / len(values))
    assert float(random_precision(marked, scorable)) == pytest.approx(2 / 5)
