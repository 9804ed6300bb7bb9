"""What each method of a table costs: steps counted anywhere, and speeds that were measured in one setting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean, median
from typing import Any

from faithboard.records import Throughput
from faithboard.stats.board import Cost, Table
from faithboard.stats.entries import Entry
from faithboard.stats.resampling import rounded_or_none

_SETTING = ("device", "dtype", "torch", "threads")
"""What must be equal for two speeds to be comparable."""


def timing_of(entries: Sequence[Entry], device: str) -> dict[str, Any]:
    """The setting that most methods were timed in; empty when none was.

    Among equals `device`, where the table was explained, goes first, then what most records have, then the name.
    """
    methods = Counter(setting for entry in entries for setting in set(map(_setting, entry.speeds)))
    records = Counter(_setting(record) for entry in entries for record in entry.speeds)
    if not methods:
        return {}
    chosen = min(methods, key=lambda one: (-methods[one], one[0] != device, -records[one], one))
    return dict(zip(_SETTING, chosen, strict=True))


def cost_of(table: Table, entry: Entry) -> Cost:
    """The cost of one method in the table's setting."""
    here = [record for record in entry.speeds if _setting(record) == tuple(table.timing.values())]
    explanations = entry.by_seed.values()
    return Cost(
        table=table.key,
        task=table.task,
        model=table.model,
        training=table.training,
        method=entry.method,
        forward_steps=_over(mean, (explanation.forward_steps for explanation in explanations)),
        backward_steps=_over(mean, (explanation.backward_steps for explanation in explanations)),
        examples_per_second=_over(median, (record.examples_per_second for record in here)),
        tokens_per_second=_over(median, (record.tokens_per_second for record in here)),
        spread=_over(max, (_share(record.seconds_spread, record.seconds) for record in here)),
        peak_memory_mb=_over(max, (record.peak_memory_mb for record in here)),
        batch_size=min((record.batch_size for record in here), default=None),
        joules_per_example=_over(median, (_share(record.energy_joules, record.examples) for record in here)),
        reason="" if here else _elsewhere(entry.speeds),
    )


def described(timing: Mapping[str, Any]) -> str:
    """`cpu, float32, torch 2.13.0, 2 threads`."""
    threads = "1 thread" if timing["threads"] == 1 else f"{timing['threads']} threads"
    return f"{timing['device']}, {timing['dtype']}, torch {timing['torch']}, {threads}"


def _setting(record: Throughput) -> tuple[str, str, str, int]:
    return record.device, record.dtype, record.torch, record.threads


def _over(summary: Callable[[list[float]], float], values: Iterable[float | None]) -> float | None:
    """The summary of the values that are there; None when none is."""
    found = [value for value in values if value is not None]
    return rounded_or_none(summary(found)) if found else None


def _share(part: float | None, whole: float) -> float | None:
    return None if part is None else part / whole


def _elsewhere(speeds: Sequence[Throughput]) -> str:
    if not speeds:
        return "not timed"
    other = min(map(_setting, speeds))
    return f"timed in another setting: {described(dict(zip(_SETTING, other, strict=True)))}"
