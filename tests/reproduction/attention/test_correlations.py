from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from faithboard.published import PublishedTau
from faithboard.reproduction.attention.comparing import Place
from faithboard.reproduction.attention.correlations import independent_variance, length_lines, tau_lines
from faithboard.reproduction.attention.lines import TauLine
from faithboard.reproduction.attention.measured import LENGTH, Measured, paired
from tests.reproduction.attention import invented
from tests.reproduction.attention.invented import LABELS, columns

NAN = math.nan
AG = "attention-gradient"


def cell(lines: list[TauLine], predicted: int | None = None, pair: str = AG, model: str = "bilstm-additive") -> TauLine:
    (found,) = (line for line in lines if (line.predicted, line.pair, line.model) == (predicted, pair, model))
    return found


def four() -> Measured:
    """Two seeds, four texts; the third has no tau in seed 0, and seed 1 predicts another class of the last."""
    taus = {AG: [[0.4, 0.2, NAN, 0.8], [0.6, 0.0, 0.2, 0.8]]}
    return invented.measured("sst", "bilstm-additive", columns(taus, [[0, 0, 1, 1], [0, 0, 1, 0]]))


def test_a_cell_is_the_mean_over_examples_of_the_mean_over_seeds() -> None:
    line = cell(tau_lines([four()], LABELS, {}))
    assert line.mean == pytest.approx((0.5 + 0.1 + 0.2 + 0.8) / 4)
    assert line.n == 4
    sd = [np.std([0.4, 0.2, 0.8]), np.std([0.6, 0.0, 0.2, 0.8])]
    assert line.sd == pytest.approx(np.mean(sd), abs=1e-6)
    assert line.seed_spread == pytest.approx(abs(1.4 / 3 - 0.4) / math.sqrt(2), abs=1e-6)
    assert line.significant == pytest.approx(4 / 7)  # 0.4 0.8 0.6 0.8 of seven tested
    assert line.undefined == pytest.approx(1 / 8)
    assert line.top_k == pytest.approx(line.mean / 2)
    assert (line.untestable, line.published_mean, line.verdict) == (0.0, None, "")


def test_a_constant_vector_is_undefined_and_never_not_significant() -> None:
    taus = {AG: [[NAN, NAN, NAN, 0.8]]}
    one = invented.measured("sst", "bilstm-additive", columns(taus, [[0, 0, 1, 1]]))
    line = cell(tau_lines([one], LABELS, {}))
    assert (line.n, line.significant, line.undefined) == (1, 1.0, 0.75)
    (quarter,) = (line for line in length_lines([one]) if line.pair == AG)
    assert (quarter.significant, quarter.not_significant, quarter.undefined) == (0.25, 0.0, 0.75)


def test_probes_without_a_top_k_agreement_have_none() -> None:
    values = {name: column for name, column in four().columns.items() if not name.startswith("top-k")}
    assert cell(tau_lines([invented.measured("sst", "bilstm-additive", values)], LABELS, {})).top_k is None


def test_classes_are_those_that_the_model_predicts_in_each_seed() -> None:
    lines = tau_lines([four()], LABELS, {})
    negative, positive = cell(lines, 0), cell(lines, 1)
    assert (negative.label, positive.label) == ("negative", "positive")
    assert negative.mean == pytest.approx((0.5 + 0.1 + 0.8) / 3)
    assert positive.mean == pytest.approx((0.2 + 0.8) / 2)
    assert positive.undefined == pytest.approx(1 / 3, abs=1e-6)


def test_answers_among_many_are_not_broken_down_even_when_one_is_always_given() -> None:
    one = invented.measured("babi-1", "bilstm-additive", columns({AG: [[0.4, 0.9]]}, [[0, 0]]))
    labels = {"babi-1": ("bathroom", "bedroom", "garden", "hallway")}
    assert {line.predicted for line in tau_lines([one], labels, {})} == {None}


def test_short_texts_are_not_testable_rather_than_not_significant() -> None:
    one = invented.measured("sst", "bilstm-additive", columns({AG: [[0.4, 0.9]]}, [[0, 1]], length=4))
    line = cell(tau_lines([one], LABELS, {}))
    assert (line.significant, line.untestable) == (None, 1.0)
    (quarter,) = (line for line in length_lines([one]) if line.pair == AG)
    assert (quarter.significant, quarter.not_significant, quarter.untestable) == (0.0, 0.0, 1.0)


def test_published_numbers_stand_beside_with_difference_and_verdict() -> None:
    published: dict[Place, PublishedTau] = {("sst", "bilstm-additive", AG, None): PublishedTau(0.3, 0.2, 0.5)}
    published |= {("sst", "average-additive", AG, None): PublishedTau(0.7, 0.2, 0.9)}
    models = [invented.full("sst", "bilstm-additive", 0.45), invented.full("sst", "average-additive", 0.72)]
    lines = tau_lines(models, LABELS, published)
    first, second = cell(lines), cell(lines, model="average-additive")
    assert first.verdict == "same sign and order"
    assert first.difference == pytest.approx(first.mean - 0.3, abs=1e-5)
    assert second.verdict == "within 0.08"
    assert cell(lines, 0).verdict == ""


def test_a_substitute_has_an_order_of_its_own() -> None:
    published: dict[Place, PublishedTau] = {("adr", "bilstm-additive", AG, None): PublishedTau(0.3, 0.2, 0.5)}
    published |= {("adr", "average-additive", AG, None): PublishedTau(0.7, 0.2, 0.9)}
    labels = {"ade": ("none", "adverse reaction"), "adr": ("none", "adverse reaction")}
    here = [invented.full("ade", "bilstm-additive", 0.45), invented.full("ade", "average-additive", 0.72)]
    there = [invented.full("adr", "bilstm-additive", 0.9), invented.full("adr", "average-additive", 0.1)]
    lines = [line for line in tau_lines([*here, *there], labels, published) if line.task == "ade"]
    assert cell(lines).verdict == "same sign and order"


def test_variance_of_independent_orders_is_that_of_all_permutations() -> None:
    from scipy.stats import kendalltau

    found = [kendalltau(range(5), order).statistic for order in permutations(range(5))]
    assert np.var(found) == pytest.approx(independent_variance(np.array(5.0)))


def test_quarters_of_length_hold_every_example_once_and_their_shares_add_up() -> None:
    values = columns({AG: [[0.1, 0.9, NAN, 0.2, 0.5, 0.7, 0.3, 0.4]]}, [[0] * 8])
    values[LENGTH] = np.array([[3, 4, 5, 6, 7, 8, 9, 9]], dtype=float).T
    values[f"p-{AG}"][:2] = NAN
    lines = [line for line in length_lines([invented.measured("sst", "bilstm-additive", values)]) if line.pair == AG]
    assert [(line.shortest, line.longest, line.n) for line in lines] == [(3, 3, 1), (4, 5, 2), (6, 7, 2), (8, 9, 3)]
    for line in lines:
        total = line.significant + line.not_significant + line.untestable + line.undefined
        assert total == pytest.approx(1)
    assert lines[1].undefined == 0.5
    expected = np.var([0.7, 0.3, 0.4]) - independent_variance(np.array([8.0, 9.0, 9.0])).mean()
    assert lines[3].excess_variance == pytest.approx(expected, abs=1e-6)


def test_examples_are_paired_by_name() -> None:
    a = invented.measured("sst", "average-additive", columns({AG: [[0.5, 0.9]]}, [[0, 1]]))
    b = invented.measured("sst", "bilstm-additive", columns({AG: [[0.1, 0.2, 0.3]]}, [[0, 1, 1]]))
    shifted = Measured(b.task, b.model, b.records, ("e001", "e000", "e007"), b.columns)
    assert paired(a, shifted, f"tau-{AG}").tolist() == pytest.approx([0.3, 0.8])
