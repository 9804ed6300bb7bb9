"""Max-sensitivity: the perturbed model by hand, and the metric on methods whose change is known."""

from __future__ import annotations

import pytest
import torch

from faithboard import Batch, Method, Rng, evaluate_masks, method, predict
from faithboard.classifier import Classifier
from faithboard.metrics.sensitivity import MAX_SENSITIVITY, RADIUS, REPEATS, Perturbed, largest_change, perturbed
from faithboard.running.explaining import explain_batch
from faithboard.running.rerunning import rerun
from tests import toy
from tests.metrics.scored import batch_of, data_of, values
from tests.toy import MIXED, BagOfWords, recurrent, texts


def shifted(batch: Batch, by: float) -> Perturbed:
    """Every word of every text a constant further."""
    model = BagOfWords()
    return Perturbed(model, batch, torch.full((*batch.ids.shape, 1), by))


def test_only_words_move_and_queries_stay() -> None:
    batch = texts("good film | good", "dull")
    moved = shifted(batch, 0.5).embed(batch) - BagOfWords().embed(batch)
    assert torch.equal(moved[:, :, 0] != 0, batch.scorable)


def test_a_word_keeps_its_shift_where_others_are_deleted_or_replaced() -> None:
    batch = texts("good film bad good nice", "bad film good")
    model = perturbed(BagOfWords(), batch, Rng(0, batch))
    shift = model.shift(batch)
    # Both `good` of the first text move alike; that of the second otherwise.
    assert shift[0, 1] == shift[0, 4]
    assert shift[0, 1] != shift[1, 3]
    drop = torch.zeros(2, 7, dtype=torch.bool)
    drop[:, 2] = True
    left = batch.without(drop)
    torch.testing.assert_close(model.shift(left)[0, 1:5], shift[0, [1, 3, 4, 5]])
    replaced = batch.replaced(drop, batch.specials.unk)
    assert model.shift(replaced)[0, 2] == 0
    many = batch.rows([1, 0, 1]).repeat(2)
    torch.testing.assert_close(model.shift(many)[2, 1:6], shift[0, 1:6])


def test_deleting_reads_the_perturbed_text() -> None:
    batch = texts("good film bad nice", "nice what")
    model = shifted(batch, 0.25)
    drop = torch.zeros(2, 1, batch.ids.shape[1], dtype=torch.bool)
    drop[:, :, 1] = True
    found = evaluate_masks(model, batch, drop)[:, 0, 1]
    z = torch.tensor([0.0 - 2 + 1 + 3 * 0.25, 0.25 + 0.25], dtype=torch.float64)
    torch.testing.assert_close(found, z.sigmoid())
    # And so does the model's own way of leaving out one token.
    text, position = torch.tensor([0, 1]), torch.tensor([1, 1])
    torch.testing.assert_close(model.without_token(batch, text, position)[:, 0].double(), z)


@pytest.mark.parametrize("make", [BagOfWords, recurrent])
def test_the_noise_has_its_norm(make: type[Classifier]) -> None:
    model, batch = make(), texts(*MIXED)
    moved = perturbed(model, batch, Rng(0, batch))
    own = model.embed(batch).masked_fill(~batch.scorable[:, :, None], 0.0).flatten(1).norm(dim=1)
    torch.testing.assert_close(moved.shift(batch).flatten(1).norm(dim=1), RADIUS * own)


def test_nothing_moves_without_noise() -> None:
    model, batch = recurrent(), texts(*MIXED)
    still = Perturbed(model, batch, torch.zeros_like(model.embed(batch)))
    torch.testing.assert_close(predict(still, batch), predict(model, batch), rtol=0, atol=0)


@pytest.mark.parametrize("one", toy.builtin_methods().values(), ids=lambda one: one.name)
def test_every_method_runs_on_a_perturbed_model(one: Method) -> None:
    model, batch = recurrent(), texts("good film bad", "nice what | what good")
    still = Perturbed(model, batch, torch.zeros_like(model.embed(batch)))
    found, expected = (one(each, batch, Rng(0, batch)).scores for each in (still, model))
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_the_largest_change_by_hand() -> None:
    scores = torch.tensor([[3.0, 4.0], [0.0, 0.0]], dtype=torch.float64)
    again = torch.tensor([[[3.0, 4.0], [3.0, 5.0], [0.0, 0.0]], [[1.0, 0.0]] * 3], dtype=torch.float64)
    found = largest_change(scores, again)
    assert found[0] == 1.0
    assert found[1].isnan()


@method("embedding", kind="sensitivity", signed=True, source="a test")
def embedding(model: Classifier, batch: Batch, rng: Rng) -> torch.Tensor:
    return model.embed(batch)[:, :, 0]


@method("noise", kind="reference", signed=False, source="a test", draws=3)
def noise(model: Classifier, batch: Batch, rng: Rng) -> torch.Tensor:
    return rng.uniform("token")


def test_of_the_embedding_itself_it_is_the_radius_and_of_noise_nothing() -> None:
    data = data_of(["good film bad nice dull", "nice what dull", "good", "bad good"])
    batch, model = batch_of(data), BagOfWords()
    for one, expected in ((embedding, RADIUS), (noise, 0.0)):
        scores = explain_batch(model, one, batch, 0)
        found = rerun(model, one, data, data.splits["test"], scores, MAX_SENSITIVITY, 0, advance=lambda done: None)
        assert values(found, "max-sensitivity").tolist() == pytest.approx([expected] * 3, rel=1e-4)
        assert found.excluded["max-sensitivity"] == 1


def test_noise_is_shared_by_methods_and_differs_between_repeats() -> None:
    batch = texts("good film bad nice dull")
    one, other = Rng(5, batch), Rng(5, batch)
    first = [perturbed(BagOfWords(), batch, one).shift(batch) for _ in range(REPEATS)]
    second = [perturbed(BagOfWords(), batch, other).shift(batch) for _ in range(REPEATS)]
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert not torch.equal(first[0], first[1])
