"""Completeness and infidelity: by hand, against numpy's least squares, with signs and zeros."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from faithboard.metric import Amounts
from faithboard.metrics.amounts import COMPLETENESS, INFIDELITY, SUBSETS, gap, infidelity
from tests.metrics.scored import batch_of, data_of, evidence, frame, scored, values
from tests.toy import BagOfWords


def amounts(scores: torch.Tensor, drop: torch.Tensor, loss: torch.Tensor) -> Amounts:
    total = torch.full((len(scores),), torch.nan, dtype=torch.float64)
    return Amounts(scores.double(), total, torch.ones_like(scores, dtype=torch.bool), drop, loss.double())


def test_completeness_by_hand() -> None:
    data = data_of(["good film", "bad nice", "good"])
    batch = batch_of(data)
    scores, total = evidence(batch), torch.tensor([2.0, 1.5, 0.0])
    found = scored(BagOfWords(), data, (COMPLETENESS,), {"a": frame(batch, scores, total=total)})["a"]
    assert values(found, "completeness").tolist() == pytest.approx([0.0, 0.5])
    assert found.excluded["completeness"] == 1


def test_who_promises_nothing_is_not_measured() -> None:
    data = data_of(["good film", "bad nice"])
    batch = batch_of(data)
    found = scored(BagOfWords(), data, (COMPLETENESS,), {"a": frame(batch, evidence(batch))})["a"]
    assert found.unsupported["completeness"].startswith("not promised")
    assert len(values(found, "completeness")) == 0


def test_the_gap_has_no_sign() -> None:
    read = amounts(torch.tensor([[1.0, -3.0], [2.0, 2.0]]), torch.zeros(2, 0, 2, dtype=torch.bool), torch.zeros(2, 0))
    read = Amounts(read.scores, torch.tensor([0.0, 5.0], dtype=torch.float64), read.scorable, read.drop, read.loss)
    assert gap(read).tolist() == [2.0, 1.0]


def test_infidelity_is_the_residual_of_a_line_through_zero() -> None:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(5, 7, generator=generator)
    drop = torch.rand(5, 40, 7, generator=generator) < 0.5
    a = (drop.double() @ scores.double()[:, :, None])[:, :, 0]
    loss = 0.3 * a + torch.randn(5, 40, generator=generator)
    found = infidelity(amounts(scores, drop, loss))
    for row in range(5):
        beta, residual, *_ = np.linalg.lstsq(a[row, :, None].numpy(), loss[row].numpy(), rcond=None)
        expected = residual[0] / (loss[row] ** 2).sum() if beta[0] > 0 else 1.0
        assert float(found[row]) == pytest.approx(float(expected))


def test_scale_plays_no_part_and_the_sign_does() -> None:
    scores = torch.tensor([[1.0, 2.0, -1.0]])
    drop = torch.tensor([[[True, False, False], [True, True, False], [False, False, True]]])
    loss = (drop.double() @ scores.double()[:, :, None])[:, :, 0]
    found = {factor: float(infidelity(amounts(factor * scores, drop, loss))) for factor in (1, 1000, 1e-3, -1)}
    assert found[1] == pytest.approx(0.0, abs=1e-12)
    assert found[1000] == pytest.approx(0.0, abs=1e-12)
    assert found[1e-3] == pytest.approx(0.0, abs=1e-12)
    assert found[-1] == 1.0


def test_zeros_explain_nothing_and_nothing_to_explain_is_undefined() -> None:
    drop = torch.tensor([[[True, False], [True, True]]])
    assert infidelity(amounts(torch.zeros(1, 2), drop, torch.ones(1, 2))).tolist() == [1.0]
    assert infidelity(amounts(torch.ones(1, 2), drop, torch.zeros(1, 2))).isnan().all()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_scores_that_are_not_finite_have_no_infidelity(bad: float) -> None:
    drop = torch.tensor([[[True, False], [True, True]]]).expand(2, 2, 2)
    found = infidelity(amounts(torch.tensor([[bad, 1.0], [2.0, 1.0]]), drop, torch.ones(2, 2)))
    assert found.isnan().tolist() == [True, False]


def test_infidelity_by_hand_where_every_set_has_the_same_words() -> None:
    # Sets of `film nice`: p falls only with `nice`; scores that say so are perfect, others share the blame.
    data = data_of(["film nice"])
    batch = batch_of(data)
    right, shared = torch.tensor([[0.0, 0, 5, 0]]), torch.tensor([[0.0, 1, 1, 0]])
    found = scored(BagOfWords(), data, (INFIDELITY,), {"r": frame(batch, right), "s": frame(batch, shared)})
    assert values(found["r"], "infidelity").tolist() == pytest.approx([0.0], abs=1e-9)
    assert 0.1 < values(found["s"], "infidelity")[0] < 0.9


def test_sets_are_shared_and_their_sizes_uniform(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Amounts] = []

    def noted(*given: torch.Tensor) -> Amounts:
        seen.append(Amounts(*given))
        return seen[-1]

    monkeypatch.setattr("faithboard.running.chunk.Amounts", noted)
    data = data_of(["good film bad nice dull what"] * 40 + ["good film | bad"])
    batch = batch_of(data)
    scores = {name: frame(batch, torch.rand(batch.ids.shape)) for name in "ab"}
    scored(BagOfWords(), data, (INFIDELITY,), scores)
    first, second = seen[:2]
    assert torch.equal(first.drop, second.drop)
    assert first.drop.shape[1] == SUBSETS
    assert not bool((first.drop & ~batch.scorable[:, None]).any())
    sizes = first.drop[:40].sum(2).flatten()
    counts = torch.bincount(sizes, minlength=7)
    assert counts[0] == 0
    expected = 40 * SUBSETS / 6
    assert bool(((counts[1:] - expected).abs() < 4.5 * math.sqrt(expected)).all())
    # Every token is in as many sets as every other.
    each = first.drop[:40].sum((0, 1))[1:7].double()
    assert float(each.max() / each.min()) < 1.1
