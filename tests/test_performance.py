"""Measures against scikit-learn and by hand; the gate by hand and against a plain bootstrap."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
import torch

from faithboard.config import ModelConfig
from faithboard.models import build
from faithboard.performance import gate, measure, probabilities, reads_query, without_text
from faithboard.task import Task
from tests.training.tiny import PAIR, TASK, tiny

CHOICE = replace(PAIR, labels=("a", "b", "c", "d"))


def certain(predicted: list[int], classes: int) -> np.ndarray:
    return np.eye(classes)[predicted]


def test_measures_by_hand() -> None:
    gold, predicted = [0, 0, 0, 1], [0, 0, 1, 1]
    found = measure(certain(predicted, 2), gold, TASK)
    assert found == pytest.approx(
        {
            "accuracy": 3 / 4,
            "balanced-accuracy": (2 / 3 + 1) / 2,
            "f1-weighted": (3 * (4 / 5) + 1 * (2 / 3)) / 4,
            "f1-positive": 2 / 3,
            "roc-auc": (1 + 1 + 0.5) / 3,
        }
    )


def test_a_measure_that_is_not_defined_is_left_out() -> None:
    found = measure(certain([0, 1], 2), [0, 0], TASK)
    assert "roc-auc" not in found
    assert found["balanced-accuracy"] == 0.5
    assert "f1-positive" not in measure(certain([0, 1], 3), [0, 2], PAIR)


@pytest.mark.parametrize("task", [TASK, CHOICE], ids=["two classes", "four classes"])
@pytest.mark.parametrize("ties", [False, True])
def test_measures_agree_with_scikit_learn(task: Task, ties: bool) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    dice = np.random.default_rng(0)
    classes = len(task.labels)
    # The last class is never gold, so one F1 and one recall are empty where there are more than two.
    gold = dice.integers(max(2, classes - 1), size=200)
    found = dice.dirichlet(np.ones(classes), size=200)
    if ties:
        found = np.round(found, 1)
        found /= found.sum(1, keepdims=True)
    ours, predicted = measure(found, gold, task), found.argmax(1)
    assert ours["accuracy"] == pytest.approx(metrics.accuracy_score(gold, predicted))
    assert ours["f1-weighted"] == pytest.approx(metrics.f1_score(gold, predicted, average="weighted"))
    recall = metrics.recall_score(gold, predicted, average=None, labels=np.unique(gold))
    assert ours["balanced-accuracy"] == pytest.approx(recall.mean())
    if task.binary:
        assert ours["f1-positive"] == pytest.approx(metrics.f1_score(gold, predicted))
        assert ours["roc-auc"] == pytest.approx(metrics.roc_auc_score(gold, found[:, 1]))


def test_probabilities_keep_the_order_of_the_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faithboard.performance.token_budget", lambda device: 40)
    data = tiny()
    model = build(ModelConfig(hidden=4), TASK, torch.randn(len(data.vocabulary), 5), data.vocabulary.specials, seed=0)
    texts = data.splits["test"]
    found = probabilities(model, texts, data, "cpu")
    alone = np.concatenate([probabilities(model, [example], data, "cpu") for example in texts])
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, alone, atol=1e-6)
    np.testing.assert_allclose(found.sum(1), 1)
    assert len(np.unique(found[:, 0])) > 40


@pytest.mark.parametrize("layout", ["pair", "sequence"])
def test_without_text_the_query_alone_is_read(
    layout: Literal["pair", "sequence"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faithboard.performance.token_budget", lambda device: 40)
    task = replace(PAIR, layout=layout)
    assert reads_query(task)
    data = tiny(task)
    model = build(ModelConfig(hidden=4), task, torch.randn(len(data.vocabulary), 5), data.vocabulary.specials, seed=0)
    words = data.vocabulary.words[-3:]
    asked = [
        replace(example, query=(words[row % 3],), candidates=(row % 3, (row + 1) % 3))
        for row, example in enumerate(data.splits["test"])
    ]
    found = without_text(model, asked, data, "cpu")
    bare = probabilities(model, [replace(example, tokens=()) for example in asked], data, "cpu")
    np.testing.assert_allclose(found, bare, atol=1e-6)
    # Candidates are those of the full input, and the other class is out.
    assert [row.tolist().index(0.0) for row in found[:3]] == [2, 0, 1]


def test_a_text_without_query_and_one_that_is_explained_whole_have_no_part_input() -> None:
    assert not reads_query(TASK)
    assert not reads_query(replace(TASK, layout="sequence", explained=("text", "query")))


def test_the_gate_agrees_with_resampling_examples_one_by_one() -> None:
    dice = np.random.default_rng(3)
    gold = np.repeat([0, 1], [150, 50])
    predicted = np.where(dice.random(200) < 0.7, gold, 1 - gold)
    found = gate(certain(predicted.tolist(), 2), gold, TASK, seed=0)
    scores = []
    for _ in range(4000):
        rows = dice.integers(200, size=200)
        correct, labels = (predicted == gold)[rows], gold[rows]
        scores.append((correct[labels == 0].mean() + correct[labels == 1].mean()) / 2)
    assert found.bound == pytest.approx(np.quantile(scores, 0.05), abs=0.006)
    assert found.threshold == 0.5
    assert found.passed


def test_always_the_larger_class_does_not_pass() -> None:
    gold = [0] * 90 + [1] * 10
    found = gate(certain([0] * 100, 2), gold, TASK, seed=0)
    assert found.bound == pytest.approx(0.5)
    assert not found.passed


def test_answers_among_candidates_must_beat_the_most_frequent_one() -> None:
    assert CHOICE.chooses_candidates
    gold = [0] * 60 + [1] * 40
    always, better = certain([0] * 100, 4), certain([0] * 60 + [1] * 30 + [2] * 10, 4)
    assert gate(always, gold, CHOICE, seed=0).threshold == 0.6
    assert not gate(always, gold, CHOICE, seed=0).passed
    # 90 of 100 right: the 5 % point of a binomial is 85 of 100.
    assert gate(better, gold, CHOICE, seed=0).bound == pytest.approx(0.85, abs=0.005)
    assert gate(better, gold, CHOICE, seed=0).passed


def test_the_gate_repeats_itself() -> None:
    gold, found = [0, 1, 0, 1, 1], certain([0, 1, 1, 1, 0], 2)
    assert gate(found, gold, TASK, seed=5) == gate(found, gold, TASK, seed=5)
