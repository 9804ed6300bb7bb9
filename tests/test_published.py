"""The published numbers as data: complete, and named as the engine names tasks, models and measures."""

from __future__ import annotations

import pytest

from faithboard.models import names
from faithboard.published import adversarial, datasets, differences, performance, saliency_guided, tau
from faithboard.resolve import builtin, resolve

MEASURES = {"accuracy", "f1-weighted", "f1-positive", "roc-auc", "average-precision"}


def test_every_performance_belongs_to_a_task_model_and_measure_of_the_engine() -> None:
    found = performance()
    assert len(found) == 240
    for task, model, measure in found:
        assert task in builtin("task")
        assert model in names()
        assert measure in MEASURES
    assert all(0 <= value <= 1 for value in found.values())


WITHIN = 0.05
"""Largest difference between a performance of table 1 and the one run in the authors' result files."""
OTHER_RUNS = {"babi-2": 0.173}
"""Tasks whose table 1 is not that of the result files, with the difference: 0.48 in print, 0.653 in the files."""
F1 = {"f1-weighted", "f1-positive"}


@pytest.mark.parametrize("task", datasets())
def test_table_1_has_the_measure_that_the_result_files_have_nearest_to_it(task: str) -> None:
    theirs = datasets()[task]
    off = {
        measure: abs(value - theirs.performance)
        for (name, model, measure), value in performance().items()
        if (name, model) == (task, "bilstm-additive")
    }
    assert theirs.measure == builtin("task")[task].value.performance
    assert off[theirs.measure] <= OTHER_RUNS.get(task, WITHIN) + 1e-9
    if theirs.measure in F1:
        (other,) = F1 - {theirs.measure}
        # Where classes are balanced the two are alike, and the weighted one is taken.
        assert off[theirs.measure] < off[other] + (0.005 if theirs.measure == "f1-weighted" else 0.0)


def test_every_reason_belongs_to_a_number_of_table_1() -> None:
    for task, quantity in differences():
        assert task in datasets()
        assert quantity in ("vocabulary", "average length", "train", "test")


PAIRS = {"attention-gradient", "attention-loo", "gradient-loo"}


def test_every_tau_belongs_to_a_task_model_and_pair_of_the_engine() -> None:
    found = tau()
    # 14 of the 422 published rows have no mean.
    assert len(found) == 408
    for (task, model, pair, predicted), cell in found.items():
        assert task in datasets()
        assert model in names()
        assert pair in PAIRS
        labels = resolve("task", task).value.labels
        # One model of 2019 always gave one answer, and its index is that of another vocabulary.
        assert predicted is None or predicted < len(labels) or (task, model) == ("babi-2", "average-additive")
        assert -1 <= cell.mean <= 1
        assert 0 <= cell.significant <= 1
    one = found["sst", "bilstm-additive", "attention-gradient", 1]
    assert (one.mean, one.sd, one.significant) == (0.3637, 0.2096, 0.49)


def test_the_claims_hold_in_the_published_numbers_themselves() -> None:
    found = tau()
    for task in datasets():
        bilstm, average = (
            found[task, f"{name}-additive", "attention-gradient", None] for name in ("bilstm", "average")
        )
        assert average.mean > bilstm.mean
        pairs = {pair: found[task, "bilstm-additive", pair, None].mean for pair in PAIRS}
        assert (max(pairs, key=pairs.__getitem__) == "gradient-loo") == (task != "snli")


def test_every_divergence_is_possible_and_that_of_the_bilstm_large() -> None:
    found = adversarial()
    for (task, model, _), known in found.items():
        assert task in datasets()
        assert model in names()
        assert 0 <= known.mean <= 0.7
        assert 0 <= known.median <= 0.7
        assert 0 <= known.share <= 1
    assert min(known.mean for (_, model, _), known in found.items() if model == "bilstm-additive") == 0.377


def test_every_number_of_saliency_guided_training_belongs_to_names_of_the_engine() -> None:
    found = saliency_guided()
    # Three tasks, two metrics, three methods under two trainings and random orders under one.
    assert len(found) == 3 * 2 * (3 * 2 + 1)
    for (task, method, metric, training), value in found.items():
        assert task in builtin("task")
        assert method in builtin("method")
        assert metric in builtin("metric")
        assert training in builtin("training")
        assert 0 <= value <= 1
    assert found["movies", "gradient-l2", "comprehensiveness", "saliency-guided"] == 0.24
    assert found["e-snli", "random", "sufficiency", "standard"] == 0.366


def test_saliency_guided_training_is_never_worse_in_print() -> None:
    for (task, method, metric, training), value in saliency_guided().items():
        if training == "saliency-guided":
            gain = value - saliency_guided()[task, method, metric, "standard"]
            assert gain >= 0 if metric == "comprehensiveness" else gain <= 0
