"""Words that lose their attention while the states stay: by hand, and against one forward pass per mask."""

from __future__ import annotations

import math

import pytest
import torch

from faithboard import Batch, Classifier, evaluate_masks, predict
from faithboard.classifier import count_steps
from faithboard.erasure import MaskCount
from faithboard.errors import ContractError
from faithboard.operators import reweighted
from tests.toy import MIXED, SEVERAL, BagOfWords, recurrent, texts


class Decoding(BagOfWords):
    """The attentive bag of words, able to decode."""

    def __init__(self, weights: object = None) -> None:
        super().__init__(SEVERAL, attends=True)
        self.capabilities = self.capabilities | {"decode"}

    def decode(
        self, hidden: torch.Tensor, attention: torch.Tensor, batch: Batch, query: torch.Tensor | None = None
    ) -> torch.Tensor:
        weight = torch.where(batch.segment == 0, attention, 1.0)
        return self.bias + (weight[:, :, None] * hidden).sum(1)


def masks_of(batch: Batch, count: int = 7) -> torch.Tensor:
    shape = (len(batch), count, batch.ids.shape[1])
    drop = (torch.rand(shape, generator=torch.Generator().manual_seed(3)) < 0.5) & batch.scorable[:, None]
    drop[:, 0], drop[:, 1] = False, batch.scorable
    return drop


def test_weights_are_scaled_to_their_old_sum() -> None:
    attention = torch.tensor([[0.5, 0.3, 0.2], [0.2, 0.0, 0.6]])
    masks = torch.tensor([[[True, False, False]], [[False, False, True]]])
    expected = torch.tensor([[[0.0, 0.6, 0.4]], [[0.8, 0.0, 0.0]]])
    torch.testing.assert_close(reweighted(attention, masks), expected)


def test_without_any_weight_left_the_context_is_zero() -> None:
    attention = torch.tensor([[0.5, 0.5]])
    assert reweighted(attention, torch.tensor([[[True, True]]])).tolist() == [[[0.0, 0.0]]]
    batch = texts("good film")
    p = evaluate_masks(Decoding(), batch, batch.scorable[:, None], operator="attention")
    torch.testing.assert_close(p[0, 0], torch.full((4,), 0.25, dtype=torch.float64))


def test_by_hand() -> None:
    batch = texts("good nice film")
    drop = torch.tensor([[[False, True, False, False, False]]])
    weight = [math.exp(1), math.exp(0)]  # `nice` and `film` by their first weight
    logits = [weight[0] * w / sum(weight) for w in SEVERAL["nice"]]
    expected = torch.tensor(logits, dtype=torch.float64).softmax(0)
    found = evaluate_masks(Decoding(), batch, drop, operator="attention")
    torch.testing.assert_close(found[0, 0], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("make", [Decoding, recurrent])
@pytest.mark.parametrize("budget", [None, 1, 40])
def test_equals_a_forward_pass_per_mask(make: type[Classifier], budget: int | None) -> None:
    model, batch = make(), texts(*MIXED)
    drop = masks_of(batch)
    found = evaluate_masks(model, batch, drop, operator="attention", budget=budget)
    with torch.no_grad():
        own = model.eval()(batch).attention
        for at in range(drop.shape[1]):
            left = own.masked_fill(drop[:, at], 0.0)
            left = (left / left.sum(1, keepdim=True)).nan_to_num()
            expected = model(batch, attention=left).log_probabilities(batch.candidates).exp()
            torch.testing.assert_close(found[:, at], expected, rtol=0, atol=1e-6)
    torch.testing.assert_close(found[:, 0], predict(model, batch), rtol=0, atol=1e-6)


def test_candidates_stay() -> None:
    batch = texts("good film", "bad bad", candidates=[[False, True, True, False], [True, True, False, False]])
    p = evaluate_masks(Decoding(), batch, batch.scorable[:, None], operator="attention")
    torch.testing.assert_close(p[:, 0], torch.tensor([[0, 0.5, 0.5, 0], [0.5, 0.5, 0, 0]], dtype=torch.float64))


def test_each_text_is_encoded_once_and_equal_masks_decoded_once() -> None:
    model, batch, count = recurrent(), texts(*MIXED), MaskCount()
    drop = masks_of(batch, 5).repeat(1, 3, 1)
    with count_steps(model) as steps:
        evaluate_masks(model, batch, drop, operator="attention", count=count)
    with count_steps(model) as once:
        predict(model, batch)
    assert steps.forward == once.forward
    distinct = {(b, tuple(mask)) for b, masks in enumerate(drop.tolist()) for mask in masks}
    assert count == MaskCount(asked=15 * len(MIXED), evaluated=len(distinct))


def test_no_masks_and_a_model_without_attention() -> None:
    batch = texts("good film")
    empty = torch.zeros(1, 0, batch.ids.shape[1], dtype=torch.bool)
    assert evaluate_masks(recurrent(), batch, empty, operator="attention").shape == (1, 0, 2)
    with pytest.raises(ContractError, match="'attention' needs attention, decode"):
        evaluate_masks(BagOfWords(), batch, empty, operator="attention")
