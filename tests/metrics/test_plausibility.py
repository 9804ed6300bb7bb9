"""AUPRC, token F1 and IOU F1: by hand, against scikit-learn, by brute force, and over all orders."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score, f1_score
from torch import Tensor

from faithboard.metric import RationaleMetric
from faithboard.metrics.plausibility import AUPRC, IOU_F1, TOKEN_F1, average_precision, iou_f1, token_f1
from faithboard.metrics.rationale import MEAN_RANK, PRECISION_AT_K
from faithboard.task import Example
from tests.metrics.scored import batch_of, data_of, frame, scored, values
from tests.toy import BagOfWords

METRICS = [AUPRC, TOKEN_F1.at_share(0.4), IOU_F1.at_share(0.4)]


def flags(*lines: str) -> Tensor:
    return torch.tensor([[letter == "x" for letter in line] for line in lines])


def ranks_of(*rows: list[int]) -> Tensor:
    return torch.tensor(rows)


def drawn(seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Random ranks, marks and scorable tokens; ranks of other tokens are T and more, as the suite's."""
    dice = random.Random(seed)
    width = dice.randint(2, 14)
    scorable = [dice.random() < 0.8 for _ in range(width)]
    scorable[dice.randrange(width)] = True
    order = sorted(range(width), key=lambda at: (not scorable[at], dice.random()))
    rank = [order.index(at) for at in range(width)]
    marked = [dice.random() < 0.5 for _ in range(width)]
    return torch.tensor([rank]), torch.tensor([marked]), torch.tensor([scorable])


def test_average_precision_by_hand() -> None:
    rank = ranks_of([0, 1, 2, 3, 4], [4, 3, 2, 1, 0])
    found = average_precision(rank, flags("x.x..", "x.x.."), flags("xxxxx", "xxxxx"))
    assert found.tolist() == pytest.approx([(1 + 2 / 3) / 2, (1 / 3 + 2 / 5) / 2])


@pytest.mark.parametrize("seed", range(30))
def test_average_precision_is_that_of_scikit_learn(seed: int) -> None:
    rank, marked, scorable = drawn(seed)
    gold = marked[scorable].numpy()
    found = float(average_precision(rank, marked, scorable))
    if not gold.any():
        assert torch.isnan(torch.tensor(found))
    else:
        assert found == pytest.approx(average_precision_score(gold, -rank[scorable].numpy()))


@pytest.mark.parametrize("seed", range(30))
def test_token_f1_is_that_of_scikit_learn(seed: int) -> None:
    rank, marked, scorable = drawn(seed)
    length = -(-3 * int(scorable.sum()) // 10)
    predicted = rank[scorable] < length
    found = token_f1(rank, marked, scorable, share=0.3)
    if not bool(marked[scorable].any()):
        assert found.isnan().all()
    else:
        assert float(found) == pytest.approx(f1_score(marked[scorable], predicted, zero_division=0))


def test_length_is_the_share_rounded_up_without_rounding_errors() -> None:
    # 0.07 * 100 is 7.000000000000001 in floating point.
    everything = torch.ones(1, 100, dtype=torch.bool)
    found = token_f1(torch.arange(100)[None], torch.arange(100)[None] < 7, everything, share=0.07)
    assert found.tolist() == [1.0]
    one = token_f1(ranks_of([0, 1, 2]), flags("x.."), flags("xxx"), share=0.01)
    assert one.tolist() == [1.0]


def test_iou_by_hand() -> None:
    scorable = flags("xxxxxxxxxx")
    rank = ranks_of([1, 2, 3, 8, 9, 7, 0, 6, 5, 4])
    # Predicted: tokens 0-2, 6 and 9. Against 1-3 the first has 2 of 4, against 6-7 the second 1 of 2: right.
    assert iou_f1(rank, flags(".xxx..xx.x"), scorable, share=0.5).tolist() == [1.0]
    assert iou_f1(rank, flags(".xxx..xxx."), scorable, share=0.5).tolist() == pytest.approx([2 * 1 / (3 + 2)])
    assert iou_f1(rank, flags(".xxx..xxxx"), scorable, share=0.5).tolist() == pytest.approx([2 * 1 / (3 + 2)])


def test_a_run_does_not_go_on_behind_the_end_of_a_text() -> None:
    scorable, marked = flags(".xx.xx."), flags("..x.x..")
    rank = ranks_of([9, 3, 0, 8, 1, 2, 7])
    assert iou_f1(rank, marked, scorable, share=0.5).tolist() == [1.0]
    assert iou_f1(rank, flags("..xxx.."), scorable, share=0.5).tolist() == [1.0]  # what is not scorable is not marked


def runs(chosen: list[bool]) -> list[frozenset[int]]:
    found: list[set[int]] = []
    for at, one in enumerate(chosen):
        if one and at and chosen[at - 1]:
            found[-1].add(at)
        elif one:
            found.append({at})
    return [frozenset(run) for run in found]


def brute_force(rank: list[int], marked: list[bool], scorable: list[bool], share: Fraction) -> float:
    """ERASER's matching: precision over the predicted runs, recall over the marked ones, their harmonic mean."""
    length = -(-share.numerator * sum(scorable) // share.denominator)
    own = runs([s and r < length for r, s in zip(rank, scorable, strict=True)])
    theirs = runs([m and s for m, s in zip(marked, scorable, strict=True)])

    def share_right(some: list[frozenset[int]], others: list[frozenset[int]]) -> float:
        return sum(any(len(a & b) / len(a | b) >= 0.5 for b in others) for a in some) / len(some)

    precision, recall = share_right(own, theirs), share_right(theirs, own)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def test_iou_by_brute_force_in_one_batch() -> None:
    rows = [drawn(seed) for seed in range(60)]
    width = max(rank.shape[1] for rank, _, _ in rows)

    def padded(parts: list[Tensor], fill: int) -> Tensor:
        return torch.cat([torch.nn.functional.pad(part, (0, width - part.shape[1]), value=fill) for part in parts])

    rank = padded([rank for rank, _, _ in rows], 99)
    marked = padded([marked for _, marked, _ in rows], True)  # padding is not scorable, so its marks do not count
    scorable = padded([scorable for _, _, scorable in rows], False)
    found = iou_f1(rank, marked, scorable, share=0.4).tolist()
    some = 0
    for value, one, marks, able in zip(found, rank.tolist(), marked.tolist(), scorable.tolist(), strict=True):
        if any(m and s for m, s in zip(marks, able, strict=True)):
            assert value == pytest.approx(brute_force(one, marks, able, Fraction(2, 5)))
            some += 0 < value < 1
        else:
            assert value != value
    assert some > 10


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_rationale_of_everything_or_nothing(metric: RationaleMetric) -> None:
    rank, scorable = ranks_of([2, 0, 1, 3, 4]), flags("xxxxx")
    assert metric.score(rank, flags("....."), scorable).isnan().all()
    whole = float(metric.score(rank, flags("xxxxx"), scorable))
    # Two of five tokens, which stand side by side: all of them right, 2/5 of the union.
    assert whole == pytest.approx({"auprc": 1.0, "token-f1": 4 / 7, "iou-f1": 0.0}[metric.name])


@pytest.mark.parametrize("metric", METRICS[:2], ids=lambda metric: metric.name)
@pytest.mark.parametrize("marks", ["x....", "x..x.", ".xxx.", "xxxxx"])
def test_expectation_is_the_mean_over_all_orders(metric: RationaleMetric, marks: str) -> None:
    orders = torch.tensor(list(permutations(range(5))))
    marked, scorable = flags(marks), flags("xxxxx")
    mean = metric.score(orders, marked.expand(len(orders), 5), scorable.expand(len(orders), 5)).mean()
    assert metric.expectation is not None
    torch.testing.assert_close(metric.expectation(marked, scorable)[0], mean)
    assert metric.expectation(flags("....."), scorable).isnan().all()


def test_expectation_on_one_token() -> None:
    for metric in METRICS[:2]:
        assert metric.expectation is not None
        assert metric.expectation(flags("x."), flags("x.")).tolist() == [1.0]


def marked_data(
    *texts: tuple[str, str | None],
) -> Callable[[RationaleMetric, Tensor], tuple[list[float], int, dict[str, int]]]:
    """Texts with their marks (None for no rationale), ready to be scored through the engine."""
    data = data_of([text for text, _ in texts])
    examples = [
        replace(example, rationale=None if marks is None else tuple(letter == "x" for letter in marks))
        for example, (_, marks) in zip(data.splits["test"], texts, strict=True)
    ]
    data = replace(data, task=replace(data.task, rationale="human"), splits={"test": examples})

    def score(metric: RationaleMetric, scores: Tensor) -> tuple[list[float], int, dict[str, int]]:
        found = scored(BagOfWords(), data, [metric], {"a": frame(batch_of(data), scores)})["a"]
        return values(found, metric.name).tolist(), found.excluded[metric.name], dict(found.counts[metric.name])

    return score


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_texts_without_a_marked_token_or_of_one_token_are_left_out_and_counted(metric: RationaleMetric) -> None:
    score = marked_data(("good film", "x."), ("bad film", ".."), ("nice film", None), ("dull", "x"))
    scores = torch.tensor([[0.0, 2, 1, 0], [0, 2, 1, 0], [0, 2, 1, 0], [0, 1, 0, 0]])
    assert score(metric, scores) == ([1.0], 3, {"without a marked token, left out": 2})


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_ties_fall_in_the_order_of_the_suite(metric: RationaleMetric) -> None:
    # Two tied words, one of them marked, and room for one: over many texts either comes first about as often.
    one_word = metric.at_share(0.3) if "share" in metric.parameters else metric
    score = marked_data(*[("good film nice", ".x.")] * 60)
    found, _, _ = score(one_word, torch.tensor([[0.0, 1, 1, 0, 0]]).expand(60, 5))
    apart, _, _ = score(one_word, torch.tensor([[0.0, 1, 1 - 1e-4, 0, 0]]).expand(60, 5))
    assert set(found) == {min(found), 1.0}
    assert 15 < found.count(1.0) < 45
    assert set(apart) == {min(found)}


@pytest.mark.parametrize("metric", [*METRICS, PRECISION_AT_K, MEAN_RANK], ids=lambda metric: metric.name)
def test_the_ideal_explainer_is_best_and_its_reverse_worst(metric: RationaleMetric) -> None:
    # Two words of five are marked, and a share of 0.4 is two words.
    own = metric.at_share(0.4) if "share" in metric.parameters else metric
    marks = ["xx...", ".x.x.", "...xx", "x...x"]
    score = marked_data(*[("good film nice bad dull", mark) for mark in marks])
    ideal = torch.tensor([[0.0, *(float(letter == "x") for letter in mark), 0.0] for mark in marks])
    sign = 1 if metric.better == "higher" else -1

    def mean(scores: Tensor) -> float:
        return sign * float(np.mean(score(own, scores)[0]))

    others = [mean(torch.rand(ideal.shape, generator=torch.Generator().manual_seed(seed))) for seed in range(15)]
    assert mean(ideal) == (1.0 if metric.better == "higher" else 0.0)
    assert mean(ideal) > max(others)
    assert mean(-ideal) <= min(others) < max(others)


def test_the_share_is_a_parameter_of_the_row() -> None:
    bound = TOKEN_F1.at_share(0.25)
    assert bound.parameters == {**TOKEN_F1.parameters, "share": 0.25}
    assert not bound.needs_share
    assert AUPRC.needs_share is False


def test_marked_text_and_query_are_runs_of_their_own() -> None:
    data = data_of(["good film | what nice"])
    data = replace(data, task=replace(data.task, explained=("text", "query"), rationale="human"))
    example: Example = replace(data.splits["test"][0], rationale=(False, True), query_rationale=(True, False))
    data = replace(data, splits={"test": [example]})
    batch = batch_of(data)
    scores = torch.zeros(batch.ids.shape)
    scores[0, batch.scorable[0].nonzero()[1]] = 1.0
    found = scored(BagOfWords(), data, [IOU_F1.at_share(0.25)], {"a": frame(batch, scores)})["a"]
    assert values(found, "iou-f1").tolist() == pytest.approx([2 * 1 / (1 + 2)])
