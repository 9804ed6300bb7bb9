"""Shuffled batches of similar length."""

from __future__ import annotations

import torch

from faithboard.training.batches import shuffled


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


LENGTHS = torch.randint(1, 60, (1013,), generator=generator(1))


def test_every_text_comes_once_in_batches_of_the_size_asked_for() -> None:
    batches = shuffled(LENGTHS, 8, generator())
    assert sorted(torch.cat(batches).tolist()) == list(range(1013))
    assert sorted(len(batch) for batch in batches) == [5] + [8] * 126


def test_texts_of_a_batch_are_of_similar_length() -> None:
    spread = [int(LENGTHS[batch].max() - LENGTHS[batch].min()) for batch in shuffled(LENGTHS, 8, generator())]
    assert sum(spread) / len(spread) < 3


def test_batches_do_not_come_by_length() -> None:
    means = torch.tensor([LENGTHS[batch].double().mean() for batch in shuffled(LENGTHS, 8, generator())])
    assert abs(float(torch.corrcoef(torch.stack([means, torch.arange(len(means)).double()]))[0, 1])) < 0.3


def test_the_generator_alone_decides() -> None:
    one, same, other = (torch.cat(shuffled(LENGTHS, 8, generator(seed))) for seed in (0, 0, 1))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
