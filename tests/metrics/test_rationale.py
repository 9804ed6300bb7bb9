"""precision@k, the share of marked tokens among the first k, and the mean rank of marked tokens."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch
from sklearn.metrics import roc_auc_score

from faithboard.metrics.rationale import (
    PRECISION_AT_K,
    mean_rank,
    precision_at_k,
    random_mean_rank,
    random_precision,
)


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


def test_mean_rank_by_hand() -> None:
    scorable = flags(".xxxx. .xxxx. .xxxx.")
    marked = flags(".x..x. .x..x. .x..x.")
    rank = torch.tensor([[4, 0, 2, 3, 1, 5], [4, 2, 0, 1, 3, 5], [4, 0, 1, 2, 3, 5]])
    assert mean_rank(rank, marked, scorable).tolist() == [0.0, 1.0, 0.5]


def test_mean_rank_is_one_less_the_area_under_the_roc_curve() -> None:
    marked, scorable = flags("x.xx..x."), flags("xxxxxxx.")
    for seed in range(20):
        order = torch.randperm(7, generator=torch.Generator().manual_seed(seed))
        rank = torch.cat([order, torch.tensor([7])])[None]
        expected = 1 - roc_auc_score(marked[0, :7].numpy(), -order.numpy())
        assert float(mean_rank(rank, marked, scorable)) == pytest.approx(expected)


@pytest.mark.parametrize("marks", ["x....", "x..x.", ".xxxx"])
def test_mean_rank_of_a_random_order_is_a_half(marks: str) -> None:
    scorable, orders = flags("xxxxx"), torch.tensor(list(permutations(range(5))))
    found = mean_rank(orders, flags(marks).expand(len(orders), 5), scorable.expand(len(orders), 5))
    assert [float(found.min()), float(found.max())] == [0.0, 1.0]
    assert random_mean_rank(flags(marks), scorable).tolist() == [pytest.approx(float(found.mean()))] == [0.5]


@pytest.mark.parametrize("marks", ["...", "xxx"])
def test_where_nothing_or_everything_is_marked_there_is_no_mean_rank(marks: str) -> None:
    assert mean_rank(torch.tensor([[0, 1, 2]]), flags(marks), flags("xxx")).isnan().all()
    assert random_mean_rank(flags(marks), flags("xxx")).isnan().all()
