from __future__ import annotations

import math

import pytest

from faithboard.published import PublishedDivergence
from faithboard.reproduction.attention.outputs import divergence_lines, permutation_lines
from tests.reproduction.attention import invented
from tests.reproduction.attention.invented import LABELS, columns

NAN = math.nan


def test_permutations_are_sorted_by_the_largest_weight() -> None:
    values = columns(
        {},
        [[0, 0, 1, 1, 1]],
        permutation_median_tvd=[[0.01, 0.2, 0.04, 0.05, NAN]],
        max_attention=[[0.1, 0.25, 0.3, 1.0, 0.4]],
    )
    lines = permutation_lines([invented.measured("sst", "bilstm-additive", values)], LABELS)
    found = {(line.label, line.low, line.high): (line.n, line.median, line.share_small) for line in lines}
    assert found["", 0.0, 1.0] == (4, 0.045, 0.5)
    assert found["", 0.0, 0.25] == (1, 0.01, 1.0)
    assert found["", 0.25, 0.5] == (2, 0.12, 0.5)
    assert found["", 0.75, 1.0] == (1, 0.05, 0.0)
    assert found["positive", 0.0, 1.0] == (2, 0.045, 0.5)
    assert ("", 0.5, 0.75) not in found


def test_divergences_stand_beside_the_published_ones_of_the_code() -> None:
    jsd = [[0.6, 0.4, NAN, 0.69]]
    values = columns(
        {},
        [[0, 0, 1, 1]],
        adversarial_max_jsd=jsd,
        adversarial_accepted=[[1.0, 0.6, NAN, 0.2]],
        adversarial_code_2019_max_jsd=jsd,
        adversarial_code_2019_accepted=[[1.0, 0.6, NAN, 0.2]],
    )
    known: dict[tuple[str, str, int | None], PublishedDivergence] = {
        ("sst", "bilstm-additive", 1): PublishedDivergence(0.5, 0.52, 0.3)
    }
    lines = divergence_lines([invented.measured("sst", "bilstm-additive", values)], LABELS, known)
    found = {(line.profile, line.predicted): line for line in lines}
    whole, positive = found["code-2019", None], found["code-2019", 1]
    assert whole.mean == pytest.approx((0.6 + 0.4 + 0.69) / 3, abs=1e-6)
    assert (whole.n, whole.median, whole.accepted) == (3, 0.6, 0.6)
    assert whole.share == pytest.approx(2 / 3, abs=1e-5)
    assert 0.4 <= whole.low <= whole.mean <= whole.high <= 0.69
    assert (positive.n, positive.mean, positive.published_mean) == (1, 0.69, 0.5)
    assert found["paper", 1].published_mean is None


def test_distributions_are_over_every_seed_and_not_over_their_means() -> None:
    jsd = [[0.65, 0.65], [0.45, 0.45]]
    values = columns(
        {}, [[0, 1], [0, 1]], adversarial_code_2019_max_jsd=jsd, adversarial_code_2019_accepted=[[1, 1], [1, 1]]
    )
    lines = divergence_lines([invented.measured("sst", "bilstm-additive", values)], LABELS, {})
    (whole,) = (line for line in lines if line.predicted is None)
    assert (whole.mean, whole.share) == (0.55, 0.5)


def test_models_without_these_probes_have_no_lines() -> None:
    plain = invented.measured("sst", "bilstm-additive", columns({}, [[0, 1]]))
    assert permutation_lines([plain], LABELS) == []
    assert divergence_lines([plain], LABELS, {}) == []
