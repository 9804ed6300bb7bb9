"""The order of tokens: as given, never by absolute value; ties by one permutation; special tokens last."""

from __future__ import annotations

import pytest
import torch

from faithboard import Batch, Rng
from faithboard.order import ranks, unordered
from tests.toy import MIXED, texts


def in_place(batch: Batch) -> torch.Tensor:
    """The permutation that leaves scorable tokens in the order of the text."""
    return (~batch.scorable).to(torch.uint8).argsort(dim=1, stable=True)


def scored(batch: Batch, *values: float) -> torch.Tensor:
    scores = torch.full(batch.ids.shape, 99.0)
    scores[0, batch.scorable[0]] = torch.tensor(values)
    return scores


def rank_of(*values: float, permutation: list[int] | None = None) -> list[int]:
    batch = texts(" ".join(["film"] * len(values)))
    order = in_place(batch) if permutation is None else torch.tensor([[i + 1 for i in permutation]])
    if permutation is not None:
        order = torch.cat([order, torch.tensor([[0, len(values) + 1]])], 1)
    return ranks(scored(batch, *values), batch, order)[0, batch.scorable[0]].tolist()


def test_descending_by_value_so_that_negative_scores_come_last() -> None:
    assert rank_of(0.1, -5.0, 0.3, -0.2) == [1, 3, 0, 2]


def test_special_tokens_padding_and_query_rank_behind_every_token() -> None:
    batch = texts("good film | bad", "good film nice dull bad")
    found = ranks(torch.ones(batch.ids.shape), batch, in_place(batch))
    for b, t in enumerate(batch.scorable_lengths.tolist()):
        assert sorted(found[b, batch.scorable[b]].tolist()) == list(range(t))
        assert sorted(found[b].tolist()) == list(range(batch.ids.shape[1]))


def test_ties_stand_in_the_order_of_the_permutation() -> None:
    assert rank_of(1.0, 2.0, 1.0, 1.0, permutation=[3, 0, 1, 2]) == [2, 0, 3, 1]


def test_all_equal_scores_give_the_permutation() -> None:
    assert rank_of(0.5, 0.5, 0.5, permutation=[2, 0, 1]) == [1, 2, 0]
    assert rank_of(0.0, 0.0, 0.0, permutation=[2, 0, 1]) == [1, 2, 0]


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e6])
def test_near_ties_are_measured_by_the_largest_absolute_score(scale: float) -> None:
    # The largest is -4, so values 3e-6 apart are tied and values 8e-6 apart are not.
    assert rank_of(-4.0 * scale, 1.0 * scale, 1.000_003 * scale, permutation=[1, 2, 0]) == [2, 0, 1]
    assert rank_of(-4.0 * scale, 1.0 * scale, 1.000_008 * scale, permutation=[1, 2, 0]) == [2, 1, 0]


def test_a_chain_of_near_ties_is_one_group() -> None:
    assert rank_of(1.0, 1 - 8e-7, 1 - 16e-7, permutation=[2, 1, 0]) == [2, 1, 0]


def test_one_token() -> None:
    assert rank_of(-3.0) == [0]


def test_batch_padding_and_order_change_no_rank() -> None:
    batch = texts(*MIXED)
    scores = Rng(1, batch).integers(3, "token").float()
    permutation = Rng(7, batch).permutation()
    whole = ranks(scores, batch, permutation)
    padded = batch.padded_to(20)
    padded_scores = torch.nn.functional.pad(scores, (0, 20 - scores.shape[1]))
    found = ranks(padded_scores, padded, Rng(7, padded).permutation())
    assert torch.equal(found[:, : whole.shape[1]][batch.scorable], whole[batch.scorable])
    for b in range(len(batch)):
        one = batch.rows([b])
        alone = ranks(scores[[b], : one.ids.shape[1]], one, Rng(7, one).permutation())
        assert torch.equal(alone[one.scorable], whole[b][batch.scorable[b]])


def test_examples_without_an_order() -> None:
    batch = texts("good film", "good film", "good", "good film", "good film")
    scores = torch.tensor([[0.1, 0.2], [0.3, 0.3 + 1e-8], [0.3, 9.0], [0.1, torch.nan], [torch.inf, 0.1]])
    scores = torch.nn.functional.pad(scores, (1, 1))
    assert unordered(scores, batch).tolist() == [False, True, False, True, True]
