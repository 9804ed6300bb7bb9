"""Word deletion: each text beside a copy with a random number of its words deleted."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from faithboard.rng import Rng
from faithboard.training import CrossEntropy
from faithboard.training.deletion import Deletion
from tests.toy import MIXED, BagOfWords, texts


def logits_and_loss(seed: int, reduction: str = "sum") -> tuple[Tensor, Tensor, float]:
    """Logits of full texts, of their copies, and the loss, with every label 1."""
    model, batch = BagOfWords(bias=0.25), texts(*MIXED)
    seen: list[Tensor] = []
    model.register_forward_hook(lambda module, inputs, output: seen.append(output.logits.detach()[:, 0]))
    procedure = Deletion(CrossEntropy("mean" if reduction == "mean" else "sum"))
    loss = procedure(model, batch, torch.ones(len(batch), dtype=torch.long), Rng(seed, batch))
    (logits,) = seen
    return logits[0::2], logits[1::2], loss.item()


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_full_text_and_copy_count_alike(reduction: str) -> None:
    full, copies, loss = logits_and_loss(0, reduction)
    torch.testing.assert_close(full, BagOfWords(bias=0.25)(texts(*MIXED)).logits.detach()[:, 0])
    by_hand = torch.nn.functional.softplus(-torch.stack([full, copies])).mean(0)
    expected = by_hand.sum() if reduction == "sum" else by_hand.mean()
    assert loss == pytest.approx(float(expected))


def test_every_number_of_words_is_deleted_as_often() -> None:
    model, line = BagOfWords(), "nice nice nice"
    batch = texts(*[line] * 400)
    lengths: list[int] = []
    model.encoder.register_forward_pre_hook(lambda module, inputs: lengths.extend(inputs[1].sum(1).tolist()))
    Deletion(CrossEntropy())(model, batch, torch.ones(400, dtype=torch.long), Rng(0, batch))
    # Begin and end stay.
    assert set(lengths[0::2]) == {5}
    left = [length - 2 for length in lengths[1::2]]
    assert all(70 < left.count(words) < 130 for words in range(4))


def test_another_epoch_deletes_others() -> None:
    assert not torch.equal(logits_and_loss(0)[1], logits_and_loss(1)[1])
    assert torch.equal(logits_and_loss(0)[1], logits_and_loss(0)[1])
