from __future__ import annotations

from typing import Any

import torch

from faithboard.batch import Batch
from faithboard.rng import TOKEN, Rng, seed_of
from tests.test_batch import batch


def draw(rng: Rng) -> list[torch.Tensor]:
    return [rng.normal(TOKEN, 3), rng.uniform(TOKEN), rng.integers(5, 4), rng.permutation()]


def test_a_row_depends_on_its_own_example_alone() -> None:
    both, single = draw(Rng(1, batch())), draw(Rng(1, batch().rows([1])))
    turned = draw(Rng(1, batch().rows([1, 0])))
    for together, alone, other in zip(both, single, turned, strict=True):
        width = min(together.shape[1], alone.shape[1])
        assert torch.equal(together[1, :width], alone[0, :width])
        assert torch.equal(together[1], other[0])


def test_padding_draws_nothing() -> None:
    plain, padded = draw(Rng(1, batch())), draw(Rng(1, batch().padded_to(12)))
    for short, long in zip(plain[:2], padded[:2], strict=True):
        assert torch.equal(short, long[:, :8])
        assert not long[:, 8:].any()


def test_draws_seeds_and_examples_differ() -> None:
    rng = Rng(1, batch())
    first, second = rng.uniform(TOKEN), rng.uniform(TOKEN)
    assert not torch.equal(first, second)
    assert not torch.equal(first, Rng(2, batch()).uniform(TOKEN))
    assert not torch.equal(first[0, :6], first[1, :6])


def test_a_permutation_holds_each_scorable_position_once_and_first() -> None:
    full: Batch = batch()
    order = Rng(3, full).permutation()
    assert sorted(order[0, :3].tolist()) == [1, 2, 3]
    assert order[1, 0] == 1
    assert sorted(order[0].tolist()) == list(range(8))


def test_global_random_state_is_left_alone() -> None:
    torch.manual_seed(7)
    before: Any = torch.get_rng_state()
    draw(Rng(1, batch()))
    assert torch.equal(before, torch.get_rng_state())


def test_seeds_are_the_same_on_every_machine() -> None:
    assert seed_of("explain", 0, 1) == 4305362787209484265
    assert seed_of("a", "bc") != seed_of("ab", "c")
