"""tau with p-values for a whole test set against a loop over scipy: `pytest tests/perf --benchmark-only`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import kendalltau

from faithboard.probes.kendall import kendall_tau
from tests.perf.timing import times_faster

TEXTS = 1_821
"""The test set of SST, with lengths like its own: 19 words on average, 56 at most."""


def test_tau_is_twenty_times_faster_than_a_loop_over_scipy(benchmark: Any) -> None:
    rng = np.random.default_rng(0)
    lengths = np.clip(rng.normal(19, 9, size=TEXTS).round(), 2, 56).astype(int)
    a, b = rng.normal(size=(2, TEXTS, lengths.max()))
    b[::3] = np.round(b[::3])
    mask = np.arange(lengths.max()) < lengths[:, None]

    def loop() -> np.ndarray:
        results = [kendalltau(x[keep], y[keep]) for x, y, keep in zip(a, b, mask, strict=True)]
        return np.array([(result.statistic, result.pvalue) for result in results]).T

    np.testing.assert_allclose(kendall_tau(a, b, mask), loop(), rtol=0, atol=1e-9)
    assert times_faster(benchmark, lambda: kendall_tau(a, b, mask), loop, rounds=5) >= 20
