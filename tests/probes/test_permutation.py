"""Shuffled attention, against one decoder call per permutation."""

from __future__ import annotations

import pytest
import torch

from faithboard.probes.permutation import PERMUTATIONS, permutation, permutations
from tests.probes.reference_models import LAYOUTS, context, model_of, shift_logit, texts_of, tvd
from tests.toy import texts


@pytest.mark.parametrize("attention", ["additive", "dot"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_equals_one_decoder_call_per_permutation(layout: str, attention: str) -> None:
    model, batch = model_of(layout, attention), texts_of(layout)
    found = permutation(model, batch, context(batch))
    for row in range(len(batch)):
        one = batch.rows([row])
        output = model(one)
        p = output.log_probabilities().exp()
        place = one.scorable[0].nonzero()[:, 0]
        assert output.hidden is not None
        assert output.attention is not None
        moved = []
        for order in permutations(len(place), 0):
            shuffled = output.attention.clone()
            shuffled[0, place] = output.attention[0, place[order]]
            logits = model.decode(output.hidden, shuffled, one)
            moved.append(float(tvd(type(output)(logits).log_probabilities().exp(), p).detach()))
        expected = torch.tensor(moved, dtype=torch.float64).quantile(0.5) if len(place) > 1 else torch.tensor(torch.nan)
        torch.testing.assert_close(found[row, 0], expected.double(), rtol=0, atol=1e-6, equal_nan=True)
        assert float(found[row, 1]) == pytest.approx(float(output.attention[0, place].max().detach()))


def test_a_permutation_has_every_place_once_and_no_two_lengths_or_seeds_share_them() -> None:
    found = permutations(7, 0)
    assert found.shape == (PERMUTATIONS, 7)
    assert found.sort(1).values.eq(torch.arange(7)).all()
    assert len(found.unique(dim=0)) > PERMUTATIONS // 2
    assert not torch.equal(found, permutations(7, 1))


def test_batch_and_order_change_nothing() -> None:
    model, batch = model_of("single"), texts_of("single")
    whole = permutation(model, batch, context(batch))
    for row in range(len(batch)):
        one = batch.rows([row]).padded_to(20)
        torch.testing.assert_close(
            permutation(model, one, context(one))[0], whole[row], rtol=0, atol=1e-6, equal_nan=True
        )


def test_uniform_attention_moves_nothing_and_two_words_are_enough() -> None:
    model, batch = model_of("single", "uniform"), texts("good film", "bad dull film nice", "good")
    found = permutation(model, batch, context(batch))
    assert found[:2, 0].tolist() == pytest.approx([0, 0], abs=1e-6)
    assert torch.isnan(found[2, 0])


@pytest.mark.parametrize(("seed", "mostly"), [(0, True), (5, False)])
def test_two_words_move_by_the_distance_of_their_swap_where_most_orders_are_it(seed: int, mostly: bool) -> None:
    model, batch = model_of("single"), texts("good film")
    output = model(batch)
    place = batch.scorable[0].nonzero()[:, 0]
    swapped = output.attention.clone()
    swapped[0, place] = output.attention[0, place.flip(0)]
    changed = type(output)(model.decode(output.hidden, swapped, batch))
    distance = float(tvd(changed.log_probabilities().exp(), output.log_probabilities().exp()).detach())
    swaps = int((permutations(2, seed)[:, 0] == 1).sum())
    assert (swaps > PERMUTATIONS // 2, swaps < PERMUTATIONS // 2) == (mostly, not mostly)
    assert distance > 1e-4
    found = float(permutation(model, batch, context(batch, seed))[0, 0])
    assert found == pytest.approx(distance if mostly else 0.0, abs=1e-6)


def test_a_saturated_probability_moves_by_its_exact_distance() -> None:
    model, batch = model_of("single"), texts_of("single")
    shift_logit(model, 60.0)
    found = permutation(model, batch, context(batch))[:, 0]
    several = found[batch.scorable_lengths > 2]
    assert bool((several > 0).all())
    assert float(several.max()) < 1e-15
