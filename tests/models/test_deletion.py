"""Texts with one token deleted: the same probabilities as deleting and encoding again, for every reference model."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from faithboard import Batch, Classifier, predict, without_each_token
from faithboard.classifier import count_steps
from faithboard.models import encoders
from faithboard.models.deletion import Deletion
from tests.models.composed import COMBINATIONS, batch_of, model_of

# One word, two in a row the same, one longer than all windows of the convolutions together.
TEXTS = ([5, 6, 6, 8, 5], [11], [12, 13], [5 + i % 13 for i in range(31)], [7, 9, 10, 11, 12, 13, 14])


def deleted_and_encoded_again(model: Classifier, batch: Batch) -> Tensor:
    found = torch.full((*batch.ids.shape, model.n_classes), torch.nan, dtype=torch.float64)
    for row in range(len(batch)):
        one = batch.rows([row])
        tokens = one.scorable[0].nonzero()[:, 0]
        drop = torch.eye(one.ids.shape[1], dtype=torch.bool)[tokens]
        found[row, tokens] = predict(model, one.repeat(len(tokens)).without(drop))
    return found


@pytest.mark.parametrize(("encoder", "attention", "layout"), COMBINATIONS)
def test_equals_deleting_and_encoding_again(
    encoder: str, attention: str, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faithboard.models.recurrent._CROWD", 0)
    model, batch = model_of(layout, encoder, attention), batch_of(layout, *TEXTS)
    expected = deleted_and_encoded_again(model, batch)
    for budget in (None, 100):
        found = without_each_token(model, batch, budget=budget)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("layout", ["single", "sequence"])
@pytest.mark.parametrize("encoder", ["bilstm", "cnn", "average"])
def test_a_step_is_counted_for_every_token_that_is_left(encoder: str, layout: str) -> None:
    model, batch = model_of(layout, encoder), batch_of(layout, *TEXTS)
    with count_steps(model) as steps:
        without_each_token(model, batch)
    assert steps.forward == int((batch.scorable_lengths * (batch.lengths - 1)).sum())
    assert steps.backward == 0


@pytest.mark.parametrize("encoder", ["bilstm", "cnn", "average"])
def test_no_encoder_starts_from_the_beginning(encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = model_of("single", encoder), batch_of("single", *[[5 + i % 13 for i in range(20)]] * 5)
    expected = deleted_and_encoded_again(model, batch)

    def refuse(*_: object) -> None:
        raise AssertionError("the texts were encoded from their beginning")

    monkeypatch.setattr(encoders.Encoder, "encode_without", refuse)
    torch.testing.assert_close(without_each_token(model, batch), expected, rtol=0, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("crowd", [0, 4])
def test_memory_follows_the_budget_for_long_texts(crowd: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faithboard.models.recurrent._CROWD", crowd)
    model, batch = model_of("single"), batch_of("single", [5 + i % 13 for i in range(700)])
    sizes: list[int] = []
    model.encoder.register_forward_hook(lambda module, inputs, output: sizes.append(output[..., 0].numel()))
    found = without_each_token(model, batch, budget=50_000)
    assert torch.isfinite(found[batch.scorable]).all()
    assert max(sizes) <= 50_000
    assert len(sizes) == 10
    row = 400
    drop = torch.zeros_like(batch.real)
    drop[0, row] = True
    torch.testing.assert_close(found[0, row], predict(model, batch.without(drop))[0], rtol=0, atol=1e-6)


def test_rows_know_their_kept_positions_and_when_they_lose_a_token() -> None:
    deleted = Deletion(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 3]), torch.ones(2, 4, dtype=torch.bool))
    assert deleted.kept().tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 2]]
    assert deleted.bounds() == [0, 1, 2, 2, 3]
    states = torch.arange(8.0).reshape(2, 4, 1)
    assert deleted.compacted(states)[:, :, 0].tolist() == [[5, 6, 7], [0, 2, 3], [0, 1, 2]]
