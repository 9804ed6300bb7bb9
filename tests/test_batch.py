from __future__ import annotations

import pytest
import torch

from faithboard.batch import Batch, Specials

SPECIALS = Specials(pad=9, unk=1, begin=2, end=3, sep=4)


def batch() -> Batch:
    """`<s> 10 11 12 </s> | <s> 20 </s>` and a shorter text with the same query, padded with an id that is not zero."""
    ids = torch.tensor([[2, 10, 11, 12, 3, 2, 20, 3], [2, 10, 3, 2, 20, 3, 9, 9]])
    segment = torch.tensor([[0, 0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1, 0, 0]])
    real = ids != 9
    scorable = torch.isin(ids, torch.tensor([10, 11, 12]))
    candidates = torch.tensor([[True, False], [True, True]])
    return Batch(ids, segment, real, scorable, ("a", "b"), SPECIALS, candidates)


def drop(*positions: tuple[int, int]) -> torch.Tensor:
    mask = torch.zeros(2, 8, dtype=torch.bool)
    for row, token in positions:
        mask[row, token] = True
    return mask


def test_without_keeps_the_order_of_what_stays_and_the_query() -> None:
    left = batch().without(drop((0, 2)))
    assert left.ids.tolist() == [[2, 10, 12, 3, 2, 20, 3], [2, 10, 3, 2, 20, 3, 9]]
    assert left.segment.tolist() == [[0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1, 0]]
    assert left.scorable.tolist() == [[False, True, True] + 4 * [False], [False, True] + 5 * [False]]
    assert left.lengths.tolist() == [7, 6]


def test_without_everything_leaves_begin_end_and_query() -> None:
    full = batch()
    left = full.without(full.scorable)
    assert left.ids.tolist() == [[2, 3, 2, 20, 3], [2, 3, 2, 20, 3]]
    assert left.scorable_lengths.tolist() == [0, 0]


def test_without_nothing_changes_nothing() -> None:
    full = batch()
    assert torch.equal(full.without(torch.zeros_like(full.real)).ids, full.ids)


def test_candidates_stay_when_the_text_changes() -> None:
    full = batch()
    left = full.without(full.scorable)
    assert left.candidates is not None
    assert full.candidates is not None
    assert torch.equal(left.candidates, full.candidates)


@pytest.mark.parametrize("position", [(0, 0), (0, 4), (0, 6), (1, 7)])
def test_only_scorable_tokens_can_be_perturbed(position: tuple[int, int]) -> None:
    for perturb in (batch().without, lambda mask: batch().replaced(mask, 1)):
        with pytest.raises(ValueError, match="scorable"):
            perturb(drop(position))


def test_replaced_puts_one_id_or_one_per_position() -> None:
    mask = drop((0, 1), (1, 1))
    assert batch().replaced(mask, 1).ids[:, 1].tolist() == [1, 1]
    other = torch.full((2, 8), 7)
    assert batch().replaced(mask, other).ids.tolist() == [[2, 7, 11, 12, 3, 2, 20, 3], [2, 7, 3, 2, 20, 3, 9, 9]]


def test_repeat_keeps_the_copies_of_a_text_together() -> None:
    repeated = batch().repeat(2)
    assert repeated.example_id == ("a", "a", "b", "b")
    assert torch.equal(repeated.ids[1], batch().ids[0])
    assert torch.equal(repeated.ids[2], batch().ids[1])


def test_rows_take_any_order_and_cut_padding_that_nobody_needs() -> None:
    chosen = batch().rows([1])
    assert chosen.ids.tolist() == [[2, 10, 3, 2, 20, 3]]
    assert batch().rows(slice(1, 2)).example_id == ("b",)
    assert batch().rows([1, 0, 1]).example_id == ("b", "a", "b")


def test_padding_more_is_padding() -> None:
    longer = batch().padded_to(10)
    assert longer.ids[:, 8:].tolist() == [[9, 9], [9, 9]]
    assert not longer.real[:, 8:].any()
    with pytest.raises(ValueError, match="cannot pad"):
        batch().padded_to(7)
