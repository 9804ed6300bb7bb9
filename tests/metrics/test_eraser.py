"""Comprehensiveness and sufficiency: solved by hand on a linear model, with the traps of other tools."""

from __future__ import annotations

import math

import pytest
import torch

from faithboard import Batch, ErasureMetric, Rng, evaluate_masks, predict
from faithboard.metric import Erased
from faithboard.metrics import BUILTIN
from faithboard.metrics.eraser import (
    CODE,
    COMPREHENSIVENESS,
    COMPREHENSIVENESS_PAPER,
    PAPER,
    SUFFICIENCY,
    SUFFICIENCY_PAPER,
    bin_sizes,
)
from faithboard.operators import OPERATORS
from faithboard.order import ranks
from tests.toy import BINARY, BagOfWords, texts


def logistic(z: float) -> float:
    return 1 / (1 + math.exp(-z))


def points_of(metric: ErasureMetric, model: BagOfWords, batch: Batch, scores: torch.Tensor) -> torch.Tensor:
    rank = ranks(scores, batch, Rng(0, batch).permutation())
    p = predict(model, batch)
    j = p.argmax(1)
    masked = evaluate_masks(model, batch, metric.masks(rank, batch.scorable))
    of_j = masked.gather(2, j[:, None, None].expand(-1, masked.shape[1], 1))[:, :, 0]
    return metric.reduce(Erased(p.gather(1, j[:, None])[:, 0], of_j, batch.scorable))


def true_scores(batch: Batch) -> torch.Tensor:
    """What each word adds to the logit of the predicted class."""
    model = BagOfWords()
    sign = 2 * predict(model, batch).argmax(1) - 1
    return (model.embed(batch)[:, :, 0] * sign[:, None]).detach()


WORDS = "good film nice bad film good dull film nice film"
"""Ten words; z = 2 + 1 - 2 + 2 - 1 + 1 = 3."""


def test_by_hand_on_a_linear_model() -> None:
    batch = texts(WORDS)
    # ceil(q T) = 1, 1, 1, 2, 5: good; good; good; good good; good good nice nice film.
    removed = [3 - 2, 3 - 2, 3 - 2, 3 - 4, 3 - 6]
    kept = [2, 2, 2, 4, 6]
    found = points_of(COMPREHENSIVENESS, BagOfWords(), batch, true_scores(batch))
    expected = torch.tensor([[logistic(3) - logistic(z) for z in removed]], dtype=torch.float64)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-7)
    found = points_of(SUFFICIENCY, BagOfWords(), batch, true_scores(batch))
    expected = torch.tensor([[logistic(3) - logistic(z) for z in kept]], dtype=torch.float64)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-7)


def test_the_printed_formula_divides_by_six_and_counts_nothing_removed() -> None:
    batch = texts(WORDS)
    scores = true_scores(batch)
    five = points_of(COMPREHENSIVENESS, BagOfWords(), batch, scores)
    six = points_of(COMPREHENSIVENESS_PAPER, BagOfWords(), batch, scores)
    torch.testing.assert_close(six.mean(1), five.sum(1) / 6, rtol=0, atol=1e-12)
    five = points_of(SUFFICIENCY, BagOfWords(), batch, scores)
    six = points_of(SUFFICIENCY_PAPER, BagOfWords(), batch, scores)
    of_empty = logistic(3) - logistic(0)
    torch.testing.assert_close(six.mean(1), (five.sum(1) + of_empty) / 6, rtol=0, atol=1e-7)


def test_the_true_order_is_best_and_its_reverse_is_worst() -> None:
    batch = texts(WORDS)
    model, scores = BagOfWords(), true_scores(batch)
    others = [Rng(seed, batch).uniform("token") for seed in range(20)]
    for metric in (COMPREHENSIVENESS, SUFFICIENCY):
        sign = 1 if metric.better == "higher" else -1
        best, worst = (sign * points_of(metric, model, batch, s).mean() for s in (scores, -scores))
        for other in others:
            assert worst - 1e-12 <= sign * points_of(metric, model, batch, other).mean() <= best + 1e-12


def test_the_class_is_the_predicted_one_and_evidence_against_it_is_not_removed_first() -> None:
    batch = texts("bad bad dull good film film film film film film")
    found = points_of(COMPREHENSIVENESS, BagOfWords(), batch, true_scores(batch))
    # z = -3, class 0: the first removed is `bad`, never `good`, although both weigh 2.
    assert found[0, 0] == pytest.approx(logistic(3) - logistic(1), abs=1e-7)


@pytest.mark.parametrize("t", [1, 2, 9, 10, 11, 19, 20, 21, 99, 100, 101, 200, 1_999, 2_000])
def test_bins_are_rounded_up_exactly(t: int) -> None:
    scorable = torch.ones(1, t, dtype=torch.bool)
    expected = [math.ceil(share * t / 100) if share * t % 100 else share * t // 100 for share in PAPER]
    assert bin_sizes(scorable, PAPER)[0].tolist() == expected


def test_five_per_cent_of_twenty_is_one_where_floating_point_could_say_two() -> None:
    assert bin_sizes(torch.ones(1, 20, dtype=torch.bool), CODE)[0].tolist() == [1, 1, 2, 4, 10]
    assert bin_sizes(torch.ones(1, 21, dtype=torch.bool), CODE)[0].tolist() == [1, 2, 3, 5, 11]


def masks_of(metric: ErasureMetric, line: str) -> list[list[str]]:
    """The words that stay at each point when words are ranked from left to right."""
    batch = texts(line)
    rank = ranks(-torch.arange(batch.ids.shape[1]).float()[None], batch, Rng(0, batch).permutation())
    drop = metric.masks(rank, batch.scorable)
    assert not bool((drop & ~batch.scorable[:, None]).any())
    words = list(BINARY)
    return [[words[i] for i in batch.ids[0][batch.scorable[0] & ~mask]] for mask in drop[0]]


def test_sufficiency_keeps_what_comprehensiveness_removes() -> None:
    line = "good nice film dull bad"
    removed = [[w for w in line.split() if w not in kept] for kept in masks_of(COMPREHENSIVENESS, line)]
    assert removed == masks_of(SUFFICIENCY, line)
    assert masks_of(SUFFICIENCY, line) == [["good"], ["good"], ["good"], ["good"], ["good", "nice", "film"]]


def test_zero_tokens_means_none_not_all() -> None:
    assert masks_of(COMPREHENSIVENESS_PAPER, "good bad")[0] == ["good", "bad"]
    assert masks_of(SUFFICIENCY_PAPER, "good bad")[0] == []


def test_one_token() -> None:
    assert masks_of(COMPREHENSIVENESS, "good") == [[]] * 5
    assert masks_of(SUFFICIENCY, "good") == [["good"]] * 5


def test_the_query_stays() -> None:
    batch = texts("good film | bad bad")
    found = points_of(COMPREHENSIVENESS, BagOfWords(), batch, true_scores(batch))
    # z = 2 - 4 = -2; `film` goes first, which changes nothing; with everything gone the query alone says -4.
    assert found[0].tolist() == pytest.approx([0.0] * 5, abs=1e-7)
    masked = evaluate_masks(BagOfWords(), batch, batch.scorable[:, None])
    assert float(masked[0, 0, 1]) == pytest.approx(logistic(-4), abs=1e-7)


def test_texts_of_other_lengths_in_the_batch_change_nothing() -> None:
    lines = ("good", "bad film dull", WORDS, "nice nice | what")
    batch = texts(*lines)
    whole = points_of(COMPREHENSIVENESS, BagOfWords(), batch, true_scores(batch))
    for i in range(len(lines)):
        one = batch.rows([i])
        torch.testing.assert_close(points_of(COMPREHENSIVENESS, BagOfWords(), one, true_scores(one))[0], whole[i])


def test_every_metric_is_listed_under_its_own_name() -> None:
    names = [metric.name for metric in BUILTIN]
    assert len(set(names)) == len(names)
    assert {"comprehensiveness", "sufficiency", "precision@k"} <= set(names)
    asked = [metric for metric in BUILTIN if isinstance(metric, ErasureMetric)]
    assert {metric.operator for metric in asked} == set(OPERATORS)
    for metric in asked:
        assert metric.parameters["operator"] == metric.operator
