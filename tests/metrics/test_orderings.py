"""The bounds of every order: against all permutations, by hand, and the beam against the exact search."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import torch

from faithboard import Batch, Classifier, evaluate_masks, predict
from faithboard.metric import ErasureMetric
from faithboard.metrics import orderings
from faithboard.metrics.eraser import CODE, COMPREHENSIVENESS, SUFFICIENCY
from faithboard.metrics.naopc import NAOPC_COMPREHENSIVENESS, NAOPC_SUFFICIENCY
from faithboard.metrics.orderings import Reachable
from faithboard.running import scoring
from tests.metrics.scored import batch_of, data_of, evidence, frame, scored, values
from tests.toy import BagOfWords, recurrent, texts

METRICS = [(COMPREHENSIVENESS, False), (SUFFICIENCY, True)]


def all_orders(model: Classifier, line: str, metric: ErasureMetric) -> list[float]:
    """Value of the metric for every permutation of the words."""
    batch = texts(line)
    length = int(batch.scorable_lengths)
    rank = torch.full((math.factorial(length), batch.ids.shape[1]), length)
    rank[:, batch.scorable[0]] = torch.tensor(list(permutations(range(length))))
    masks = metric.masks(rank, batch.scorable.expand_as(rank)).flatten(0, 1)[None]
    p = predict(model, batch)
    j = int(p.argmax())
    found = p[0, j] - evaluate_masks(model, batch, masks)[0, :, j]
    return found.unflatten(0, (len(rank), -1)).mean(1).tolist()


@pytest.mark.parametrize(("metric", "keeps"), METRICS)
@pytest.mark.parametrize("line", ["good film", "good bad dull film nice", "bad what | what good", "good", "nice " * 6])
def test_short_texts_have_the_bounds_of_all_orders(metric: ErasureMetric, keeps: bool, line: str) -> None:
    model = recurrent()
    every = all_orders(model, line, metric)
    # Beside texts of other lengths, of which one takes the beam.
    batch = texts(line, "good film bad nice what dull film film nice bad good", "what film nice")
    found = Reachable(CODE, keeps)(model, batch)[0].tolist()
    assert found == pytest.approx([min(every), max(every)], abs=1e-6)


@pytest.mark.parametrize(("metric", "keeps"), METRICS)
def test_the_beam_finds_them_too_where_it_is_wide_enough(
    monkeypatch: pytest.MonkeyPatch, metric: ErasureMetric, keeps: bool
) -> None:
    model, line = recurrent(1), "good bad dull film nice what"
    every = all_orders(model, line, metric)
    monkeypatch.setattr(orderings, "EXACT", 1)
    monkeypatch.setattr(orderings, "BEAM", 20)
    found = Reachable(CODE, keeps)(model, texts(line, "good film"))[0].tolist()
    assert found == pytest.approx([min(every), max(every)], abs=1e-6)


@pytest.mark.parametrize("keeps", [False, True])
def test_on_a_linear_model_the_beam_is_exact(keeps: bool) -> None:
    # The best order of a linear model is that of its weights, which going token by token finds.
    batch = texts("good bad dull film nice what film good dull dull nice bad good", "bad film " * 12)
    model, scores = BagOfWords(), evidence(batch)
    found = Reachable(CODE, keeps)(model, batch)
    for row in range(len(batch)):
        own = sorted(scores[row][batch.scorable[row]].tolist(), reverse=True)
        ends = []
        for order in (own, own[::-1]):
            sizes = [-(-share * len(order) // 100) for share in CODE]
            z = [sum(order[:k]) if keeps else sum(order[k:]) for k in sizes]
            full = 1 / (1 + math.exp(-sum(order)))
            ends.append(float(np.mean([full - 1 / (1 + math.exp(-value)) for value in z])))
        assert found[row].tolist() == pytest.approx(sorted(ends), abs=1e-6)


def test_normalised_values_of_the_ideal_order_and_its_reverse() -> None:
    data = data_of(["good bad dull film nice", "bad film dull what nice good bad dull film what", "good film"])
    batch = batch_of(data)
    ideal = evidence(batch)
    metrics = (NAOPC_COMPREHENSIVENESS, NAOPC_SUFFICIENCY)
    found = scored(BagOfWords(), data, metrics, {"ideal": frame(batch, ideal), "reversed": frame(batch, -ideal)})
    for name, best in (("naopc-comprehensiveness", 1.0), ("naopc-sufficiency", 0.0)):
        assert values(found["ideal"], name).tolist() == pytest.approx([best] * 3, abs=1e-6)
        assert values(found["reversed"], name).tolist() == pytest.approx([1 - best] * 3, abs=1e-6)


def test_a_text_on_which_every_order_is_the_same_is_undefined() -> None:
    data = data_of(["film film film", "good film bad nice dull"])
    batch = batch_of(data)
    scores = torch.arange(batch.ids.shape[1]).float().expand(batch.ids.shape)
    found = scored(BagOfWords(), data, (NAOPC_COMPREHENSIVENESS,), {"a": frame(batch, scores)})["a"]
    assert np.isnan(values(found, "naopc-comprehensiveness")).tolist() == [True, False]


def test_long_texts_are_not_computed_and_counted() -> None:
    data = data_of(["good " * 51, "good film nice", "good"])
    batch = batch_of(data)
    scores = torch.arange(batch.ids.shape[1]).float().expand(batch.ids.shape)
    found = scored(BagOfWords(), data, (NAOPC_COMPREHENSIVENESS,), {"a": frame(batch, scores)})["a"]
    assert len(values(found, "naopc-comprehensiveness")) == 1
    assert found.excluded["naopc-comprehensiveness"] == 2
    expected = {"over 50 tokens, not computed": 1, "beyond the first 100, not computed": 0}
    assert found.counts["naopc-comprehensiveness"] == expected


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_examples_beyond_the_first_are_not_asked_and_counted(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """However the examples come in pieces; the third, too long, is one of the first and counted as long."""
    asked: list[str] = []
    true = Reachable.__call__

    def noted(self: Reachable, model: Classifier, batch: Batch) -> torch.Tensor:
        asked.extend(batch.example_id)
        return true(self, model, batch)

    monkeypatch.setattr(Reachable, "__call__", noted)
    monkeypatch.setattr(scoring, "_FLAGS", rows * 56 * len(CODE))
    data = data_of(["good film bad", "bad film nice", "good " * 51, "good film nice", "dull film good"])
    batch = batch_of(data)
    metric = replace(NAOPC_COMPREHENSIVENESS, most=4)
    scores = torch.arange(batch.ids.shape[1]).float().expand(batch.ids.shape)
    found = scored(BagOfWords(), data, (metric, COMPREHENSIVENESS), {"a": frame(batch, scores)})["a"]
    own = found.values[found.values["metric"] == metric.name]
    assert list(own["example"]) == asked == [data.splits["test"][at].id for at in (0, 1, 3)]
    assert found.excluded[metric.name] == 2
    assert found.counts[metric.name] == {"beyond the first 4, not computed": 1, "over 50 tokens, not computed": 1}
    assert len(values(found, "comprehensiveness")) == 5


def test_bounds_are_asked_once_for_all_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Batch] = []
    true = Reachable.__call__

    def counted(self: Reachable, model: Classifier, batch: Batch) -> torch.Tensor:
        asked.append(batch)
        return true(self, model, batch)

    monkeypatch.setattr(Reachable, "__call__", counted)
    data = data_of(["good film nice", "bad what dull"])
    batch = batch_of(data)
    explained = {str(seed): frame(batch, torch.rand(batch.ids.shape)) for seed in range(4)}
    scored(BagOfWords(), data, (NAOPC_COMPREHENSIVENESS, NAOPC_SUFFICIENCY), explained)
    assert len(asked) == 2
