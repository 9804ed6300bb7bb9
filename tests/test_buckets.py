"""Batches by length under a token budget."""

from __future__ import annotations

import pytest
import torch

from faithboard.buckets import token_batches, token_budget


@pytest.mark.parametrize("budget", [1, 7, 30, 10_000])
def test_every_text_once_and_never_over_the_budget(budget: int) -> None:
    lengths = torch.randint(0, 40, (200,), generator=torch.Generator().manual_seed(0))
    batches = list(token_batches(lengths, budget))
    assert sorted(int(i) for batch in batches for i in batch) == list(range(200))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * int(lengths[batch].max()) <= budget


def test_longest_first_and_equal_lengths_in_order() -> None:
    batches = [batch.tolist() for batch in token_batches(torch.tensor([2, 5, 2, 9]), 10)]
    assert batches == [[3], [1, 0], [2]]


def test_a_text_over_the_budget_goes_alone() -> None:
    assert [batch.tolist() for batch in token_batches(torch.tensor([50, 3]), 4)] == [[0], [1]]


def test_no_texts_no_batches() -> None:
    assert list(token_batches(torch.tensor([], dtype=torch.long), 5)) == []


def test_a_budget_below_one_token_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        list(token_batches(torch.tensor([3]), 0))


def test_an_accelerator_gets_more_at_once() -> None:
    assert token_budget(torch.device("cuda")) > token_budget(torch.device("cpu"))
