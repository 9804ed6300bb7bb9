"""How many times faster one way is than another, both measured in turn in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any


def times_faster(benchmark: Any, ours: Callable[[], object], other: Callable[[], object], rounds: int) -> float:
    """Median seconds of `other` over that of `ours`; `ours` is what the benchmark table shows."""
    spent = []

    def run_other() -> tuple[tuple[()], dict[str, Any]]:
        start = time.perf_counter()
        other()
        spent.append(time.perf_counter() - start)
        return (), {}

    benchmark.pedantic(ours, setup=run_other, rounds=rounds, warmup_rounds=0)
    found = median(spent) / benchmark.stats.stats.median
    benchmark.extra_info["times faster"] = found
    return found
