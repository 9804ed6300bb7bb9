"""The streamed score step against a naive loop; ideal and reversed explainers; ties, signs, draws and failures."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
import torch

from faithboard import Classifier, predict
from faithboard.classifier import count_steps
from faithboard.data import TaskData
from faithboard.erasure import MaskCount
from faithboard.metric import AmountMetric, Erased, ErasureMetric, Metric
from faithboard.metrics import BUILTIN
from faithboard.metrics.eraser import COMPREHENSIVENESS, SUFFICIENCY
from faithboard.models.reference import AttentionClassifier
from faithboard.operators import previous_kept
from faithboard.order import ranks
from faithboard.rng import Rng, seed_of
from faithboard.running import scoring
from tests.metrics.scored import batch_of, data_of, evidence, frame, scored, values
from tests.metrics.test_attention_operator import Decoding
from tests.toy import MIXED, BagOfWords, recurrent

LINES = (*MIXED, "good good film what dull nice bad dull")
LABELS = [at % 2 for at in range(len(LINES))]
ORDERED = [metric for metric in BUILTIN if isinstance(metric, ErasureMetric)]
LINEAR = [metric for metric in ORDERED if metric.operator != "attention"]
"""What a bag of words without attention can have."""


def one_text_at_a_time(
    model: Classifier, data: TaskData, metric: ErasureMetric, scores: torch.Tensor, seed: int = 0
) -> list[float]:
    """The plain way: for each example and mask one call, by the words of the definition."""
    assert isinstance(model, AttentionClassifier)
    batch, found = batch_of(data), []
    rank = ranks(scores, batch, Rng(seed_of("ties", seed), batch).permutation())
    masks = metric.masks(rank, batch.scorable)
    for row in range(len(batch)):
        one = batch.rows([row])
        width = one.ids.shape[1]
        full = predict(model, one)[0]
        j, label = int(full.argmax()), LABELS[row]
        answers = []
        for mask in masks[row][:, None, :width]:
            with torch.no_grad():
                if metric.operator == "delete":
                    output = model(one.without(mask))
                elif metric.operator == "unk":
                    output = model(one.replaced(mask, one.specials.unk))
                elif metric.operator == "zero":
                    output = model(one, embedded=model.embed(one) * ~mask[:, :, None])
                elif metric.operator == "previous":
                    output = model(one.replaced(mask, previous_kept(one, mask)))
                else:
                    left = model(one).attention * ~mask
                    output = model(one, attention=(left / left.sum()).nan_to_num())
            answers.append(output.log_probabilities().exp()[0])

        def read(p: torch.Tensor, j: int = j, label: int = label) -> float:
            chosen = {"probability": float(p[j]), "decision": float(p.argmax() == j)}
            return chosen.get(metric.reads, float(p.argmax() == label))

        given = torch.tensor([[read(p) for p in answers]], dtype=torch.float64)
        points = metric.reduce(Erased(torch.tensor([read(full)], dtype=torch.float64), given, one.scorable))
        if metric.bounds is not None:
            low, high = metric.bounds(model, one)[0]
            points = (points - low) / (high - low) if high - low > 1e-6 else points * torch.nan
        if int(one.scorable_lengths) >= 2:
            found.append(float(metric.value(points)))
    return found


def test_the_stream_equals_a_naive_loop_for_every_metric_and_operator() -> None:
    model, data, count = recurrent(), data_of(LINES, LABELS), MaskCount()
    batch = batch_of(data)
    scores = {name: Rng(at, batch).normal("token") for at, name in enumerate("abc")}
    found = scored(model, data, ORDERED, {name: frame(batch, own) for name, own in scores.items()}, count=count)
    for metric in ORDERED:
        for name, own in scores.items():
            expected = one_text_at_a_time(model, data, metric, own)
            # Normalised values divide by how far any order goes, which can be little.
            tolerance = 2e-3 if metric.bounds else 2e-6
            np.testing.assert_allclose(values(found[name], metric.name), expected, rtol=0, atol=tolerance)
    assert count.evaluated < count.asked / 2


@pytest.mark.parametrize("rows", [1, 3])
def test_pieces_of_any_size_give_the_same(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    model, data = recurrent(), data_of(LINES, LABELS)
    batch = batch_of(data)
    metrics = [metric for metric in BUILTIN if isinstance(metric, ErasureMetric | AmountMetric)]
    own = {"a": frame(batch, Rng(0, batch).normal("token"), Rng(1, batch).normal("token"))}
    whole = scored(model, data, metrics, own)["a"]
    monkeypatch.setattr(scoring, "_FLAGS", rows * 16 * 2 * sum(m.masks_asked(16) for m in metrics))
    pieces = scored(model, data, metrics, own)["a"]
    assert pieces.excluded == whole.excluded
    for metric in metrics:
        np.testing.assert_allclose(
            values(pieces, metric.name),
            values(whole, metric.name),
            rtol=0,
            atol=2e-3 if "naopc" in metric.name else 2e-6,
        )


TEXTS = [
    "good good nice film dull nice",
    "bad dull film bad nice what",
    "good film film nice film bad dull film nice good what film",
    "dull bad | what film",
    "good nice | film what",
    "film good dull",
]
GOLD = [1, 0, 1, 0, 1, 1]


@pytest.mark.parametrize(
    "metric", [m for m in BUILTIN if isinstance(m, ErasureMetric | AmountMetric)], ids=lambda m: m.name
)
def test_the_ideal_explainer_is_best_and_its_reverse_worst(metric: Metric) -> None:
    attends = metric.needed != frozenset()
    data = data_of(TEXTS, GOLD)
    batch = batch_of(data)
    model = Additive() if attends else BagOfWords()
    ideal = evidence(batch)
    totals = (ideal).sum(1)
    given = {
        "ideal": frame(batch, ideal, total=totals),
        "reversed": frame(batch, -ideal, total=totals),
        **{f"other-{seed}": frame(batch, Rng(seed, batch).normal("token"), total=totals) for seed in range(15)},
    }
    found = scored(model, data, (metric,), given)
    sign = 1 if metric.better == "higher" else -1
    means = {name: sign * float(np.nanmean(values(one, metric.name))) for name, one in found.items()}
    assert means["ideal"] == max(means.values())
    others = [mean for name, mean in means.items() if name.startswith("other")]
    if not isinstance(metric, AmountMetric) or not metric.promised:
        # A promise can be missed by more than all of it.
        assert means["reversed"] <= min(others) + 1e-9
    assert means["reversed"] < means["ideal"]


class Additive(Decoding):
    """Equal attention over words that add to the logit: what is no longer attended leaves the mean of the others."""

    def __init__(self) -> None:
        BagOfWords.__init__(self, attends=True)
        self.capabilities = self.capabilities | {"decode"}

    def forward(self, batch, embedded=None, attention=None, detach_attention=False, rules=None):  # type: ignore[no-untyped-def]
        if attention is None:
            attention = batch.scorable / batch.scorable_lengths.clamp(min=1)[:, None]
        return super().forward(batch, embedded, attention, detach_attention, rules)


def test_negative_scores_keep_their_sign_and_zeros_stand_between() -> None:
    data = data_of(["good bad film"])
    batch = batch_of(data)
    # p = 1/2 and the first class: `bad` is its evidence.
    found = scored(BagOfWords(), data, (COMPREHENSIVENESS,), {"a": frame(batch, torch.tensor([[0.0, -3, 2, 0, 0]]))})
    assert values(found["a"], "comprehensiveness")[0] == pytest.approx(
        np.mean([0.5 - 1 / (1 + np.exp(2))] * 4 + [0.5 - 1 / (1 + np.exp(2))])
    )


def test_ties_are_broken_alike_for_every_method_and_flat_scores_are_undefined() -> None:
    data = data_of(["good nice bad dull film what", "nice bad"])
    batch = batch_of(data)
    tied = torch.tensor([[0.0, 2, 2, 1, 1, 1, 1, 0], [0.0, 2, 1, 0, 0, 0, 0, 0]])
    given = {"a": frame(batch, tied), "b": frame(batch, 7 * tied - 3), "flat": frame(batch, torch.ones_like(tied))}
    found = scored(BagOfWords(), data, LINEAR, given)
    for metric in LINEAR:
        np.testing.assert_array_equal(values(found["a"], metric.name), values(found["b"], metric.name))
        assert np.isnan(values(found["flat"], metric.name)).all()


def test_the_value_is_the_mean_over_draws_and_undefined_draws_are_left_out() -> None:
    data = data_of(["good nice bad dull film what", "nice bad film"])
    batch = batch_of(data)
    draws = [Rng(seed, batch).normal("token") for seed in range(3)]
    single = [scored(BagOfWords(), data, LINEAR, {"a": frame(batch, one)})["a"] for one in draws]
    together = scored(BagOfWords(), data, LINEAR, {"a": frame(batch, *draws, torch.ones_like(draws[0]))})["a"]
    for metric in LINEAR:
        expected = np.mean([values(one, metric.name) for one in single], axis=0)
        np.testing.assert_allclose(values(together, metric.name), expected, atol=1e-12)


def test_a_text_is_asked_once_whatever_asks_for_it() -> None:
    model, data = BagOfWords(), data_of(["good nice bad dull film what nice"])
    batch, count = batch_of(data), MaskCount()
    given = {name: frame(batch, evidence(batch) * factor) for factor, name in enumerate("abcd", 1)}
    with count_steps(model) as steps:
        scored(model, data, (COMPREHENSIVENESS, SUFFICIENCY), given, count=count)
    assert count.asked == 4 * 10
    # ceil(q T) of 7 is 1, 1, 1, 2, 4: three masks of each metric, the same for all.
    assert count.evaluated == 6
    lengths = [9 - k for k in (1, 2, 4)] + [2 + k for k in (1, 2, 4)]
    assert steps.forward == 9 + sum(lengths)


def test_a_broken_metric_is_failed_for_all_and_the_others_go_on() -> None:
    def fails(read: Erased) -> torch.Tensor:
        raise KeyError("no such point")

    broken = dataclasses.replace(COMPREHENSIVENESS, name="broken", reduce=fails)
    data = data_of(["good film bad", "nice bad"])
    batch = batch_of(data)
    found = scored(BagOfWords(), data, (broken, SUFFICIENCY), {name: frame(batch, evidence(batch)) for name in "ab"})
    for one in found.values():
        assert "no such point" in one.failed["broken"]
        assert len(values(one, "sufficiency")) == 2


def test_prefixes_only_ever_grow() -> None:
    batch = batch_of(data_of(LINES))
    rank = ranks(Rng(0, batch).normal("token"), batch, Rng(1, batch).permutation())
    for metric in ORDERED:
        masks = metric.masks(rank, batch.scorable)
        assert not bool((masks & ~batch.scorable[:, None]).any())
        ordered = masks if "sufficiency" not in metric.name else ~masks & batch.scorable[:, None]
        for fewer, more in pairwise(ordered.unbind(1)):
            assert bool((fewer <= more).all())
