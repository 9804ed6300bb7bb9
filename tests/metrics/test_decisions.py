"""Removal accuracy and decision flips: by hand on linear models, with ties, one token, and long texts."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from faithboard.metrics.decisions import EVERY_PREFIX, FLIP_SHARE, FLIP_TOP1, REMOVAL_ACCURACY, area, prefix_sizes
from tests.metrics.scored import batch_of, data_of, evidence, frame, scored, values
from tests.toy import BagOfWords

ALL = (REMOVAL_ACCURACY, FLIP_TOP1, FLIP_SHARE)


def test_removal_accuracy_by_hand() -> None:
    # z = 2 + 2 - 1 - 1 - 1 = 1. Removing 1, 1, 2, 2, 3 .. 5 of 5: -1, -1, -3 .. ; of nothing left, z = 0 and class 0.
    data = data_of(["good good dull dull dull"] * 2, labels=[1, 0])
    batch = batch_of(data)
    found = scored(BagOfWords(), data, ALL, {"ideal": frame(batch, evidence(batch))})["ideal"]
    # q = 0 .. 90 %: right, then wrong nine times; the other label is wrong and then right.
    right = [1.0] + [0.0] * 9
    assert values(found, "removal-accuracy-auc").tolist() == pytest.approx([1 / 18, 1 - 1 / 18])
    curves = found.values[found.values["metric"] == "removal-accuracy-auc"]["points"].tolist()
    assert curves == [right, [1 - value for value in right]]


def test_the_area_is_that_of_numpy() -> None:
    points = torch.rand(6, 10, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    shares = np.arange(10) / 10
    expected = np.trapezoid(points.numpy(), shares, axis=1) / 0.9
    np.testing.assert_allclose(area(points).numpy(), expected)


def test_flips_by_hand() -> None:
    lines = [
        "good film dull",  # z = 1; without `good` -1: flips at 1 of 3
        "good good dull film",  # z = 3, 1, -1: at 2 of 4
        "good nice film",  # z = 3, 1, 0: p = 1/2 and the first class: at 2 of 3
        "bad film film",  # z = -2, then 0 is class 0 as well: never
    ]
    data = data_of(lines)
    batch = batch_of(data)
    found = scored(BagOfWords(), data, ALL, {"ideal": frame(batch, evidence(batch))})["ideal"]
    assert values(found, "decision-flip-top1").tolist() == [1.0, 0.0, 0.0, 0.0]
    assert values(found, "decision-flip-share").tolist() == pytest.approx([1 / 3, 2 / 4, 2 / 3, 1.0])


def test_a_decision_may_flip_back() -> None:
    # z = 1; -1 without `good`, then 0.. by `dull`: only the first flip counts.
    data = data_of(["good dull nice dull dull nice film film"])
    batch = batch_of(data)
    order = torch.tensor([[0, 9, 8, 1, 7, 6, 1, 1, 1, 0]]).float()
    found = scored(BagOfWords(), data, ALL, {"a": frame(batch, order)})["a"]
    assert values(found, "decision-flip-share").tolist() == [1 / 8]


def test_the_query_stays_and_can_keep_the_decision() -> None:
    data = data_of(["good film | good", "good dull | bad bad"], labels=[1, 0])
    batch = batch_of(data)
    found = scored(BagOfWords(), data, ALL, {"ideal": frame(batch, evidence(batch))})["ideal"]
    assert values(found, "decision-flip-share").tolist() == [1.0, 1.0]
    assert values(found, "decision-flip-top1").tolist() == [0.0, 0.0]


def test_prefixes_are_every_one_up_to_fifty_and_a_grid_beyond() -> None:
    scorable = torch.zeros(4, 130, dtype=torch.bool)
    for row, length in enumerate((1, 50, 51, 130)):
        scorable[row, :length] = True
    sizes = prefix_sizes(scorable)
    assert sizes.shape[1] == EVERY_PREFIX
    assert sizes[0].tolist() == [1] * 50
    assert sizes[1].tolist() == list(range(1, 51))
    assert sizes[2].tolist() == [-(-i * 51 // 50) for i in range(1, 51)]
    assert sizes[3, -1] == 130
    assert sizes[3].tolist() == [-(-i * 130 // 50) for i in range(1, 51)]


def test_long_texts_are_counted_as_gridded() -> None:
    data = data_of(["good " + "film " * 60, "good film"])
    batch = batch_of(data)
    found = scored(BagOfWords(), data, ALL, {"ideal": frame(batch, evidence(batch))})["ideal"]
    assert found.counts["decision-flip-share"] == {"over 50 tokens, on a grid of prefixes": 1}
    # The first prefix of 61 tokens on the grid has two.
    assert values(found, "decision-flip-share").tolist() == pytest.approx([2 / 61, 1 / 2])


def test_one_token_texts_are_excluded_and_ties_are_undefined() -> None:
    data = data_of(["good", "good film", "nice dull dull"])
    batch = batch_of(data)
    flat = torch.ones(batch.ids.shape)
    found = scored(BagOfWords(), data, ALL, {"flat": frame(batch, flat)})["flat"]
    for metric in ALL:
        assert found.excluded[metric.name] == 1
        assert np.isnan(values(found, metric.name)).tolist() == [True, True]


def test_only_a_metric_sees_the_label() -> None:
    lines = ["good film dull", "bad film nice"]
    one, other = (data_of(lines, labels=labels) for labels in ([0, 0], [1, 1]))
    batch = batch_of(one)
    explained = {"ideal": frame(batch, evidence(batch))}
    found = [scored(BagOfWords(), data, ALL, explained)["ideal"] for data in (one, other)]
    for name in ("decision-flip-top1", "decision-flip-share"):
        assert values(found[0], name).tolist() == values(found[1], name).tolist()
    both = [values(part, "removal-accuracy-auc") for part in found]
    np.testing.assert_allclose(both[0] + both[1], 1.0)
