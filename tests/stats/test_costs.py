"""Speed and cost of one method, over seeds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from faithboard.records import Throughput
from faithboard.stats.entries import Entry
from tests.boards import Records, model, noisy

SPEED = Throughput("key", "a", "cpu", "float32", "2.13", 2, 64, 32, 3, 0.5, 0.1, 100.0, 2000.0, None)


def entry(*speeds: Throughput) -> Entry:
    made = Records([model(seed=0), model(seed=1)])
    made.add("a", {"comprehensiveness": noisy(0.5)})
    by_seed = {explanation.seed: explanation for explanation in made.explanations}
    return Entry("a", by_seed, {0: "", 1: ""}, speeds)


def test_speed_is_the_median_over_seeds_and_memory_the_largest() -> None:
    speeds = [
        replace(SPEED, examples_per_second=float(s), peak_memory_mb=float(m)) for s, m in ((1, 5), (9, 7), (2, 6))
    ]
    assert entry(*speeds).speed("cpu") == (2.0, 7.0)


def test_another_device_is_never_mixed_in() -> None:
    gpu = replace(SPEED, device="NVIDIA H200", examples_per_second=5000.0)
    assert entry(SPEED, gpu).speed("cpu") == (100.0, None)
    assert entry(gpu).speed("cpu") == (None, None)


def test_other_threads_or_torch_versions_are_never_mixed_in() -> None:
    slow = replace(SPEED, threads=1, examples_per_second=10.0)
    assert entry(slow, SPEED, SPEED).speed("cpu") == (100.0, None)


def test_steps_are_the_mean_over_seeds_and_none_where_not_counted() -> None:
    found = entry()
    assert found.mean_steps("forward") == 12.0
    uncounted = {seed: replace(e, forward_steps=None) for seed, e in found.by_seed.items()}
    assert replace(found, by_seed=uncounted).mean_steps("forward") is None
    uneven = {seed: replace(e, forward_steps=10.0 + 4 * seed) for seed, e in found.by_seed.items()}
    assert replace(found, by_seed=uneven).mean_steps("forward") == pytest.approx(12.0)
