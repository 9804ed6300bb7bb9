"""One method in one table, in every seed: its records, and what makes it incomplete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from faithboard.records import Explanation, Row, Status, Throughput
from faithboard.stats.board import Table
from faithboard.stats.tables import device_of
from faithboard.stats.versions import outdated

BASELINE = "random"
"""The method whose value an undefined example takes."""


@dataclass(frozen=True)
class Entry:
    """The explanations of one method (or, with an empty name, of the probes) on the models of one table."""

    method: str
    by_seed: Mapping[int, Explanation]
    weights: Mapping[int, str]
    """Seed -> hash of the weights that the table's model has."""
    speeds: Sequence[Throughput]

    @property
    def first(self) -> Explanation:
        """The explanation of the lowest seed; kind and sign are the same in all."""
        return self.by_seed[min(self.by_seed)]

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics it has a row of, in some seed."""
        return sorted({row.metric for explanation in self.by_seed.values() for row in explanation.rows})

    def rows(self, metric: str) -> dict[int, Row]:
        """Seed -> row of a metric, in the order of seeds."""
        return {
            seed: row
            for seed, explanation in sorted(self.by_seed.items())
            for row in explanation.rows
            if row.metric == metric
        }

    def scored(self, seed: int) -> str:
        """Key of the explanation of a seed that has scores of the table's model; empty when there is none."""
        one = self.by_seed.get(seed)
        if one is None or one.status != "ok" or one.weights_sha256 != self.weights.get(seed):
            return ""
        return one.key

    def makes_sense(self, metric: str) -> bool:
        """False when the metric says nothing of the method, as completeness of one that promises no sum."""
        rows = self.rows(metric)
        return not rows or any(row.kind != "amounts" or row.status != "unsupported" for row in rows.values())

    def failure(self, metric: str) -> tuple[Status, str]:
        """Status and reason of the first seed that is not ok, or ("ok", "")."""
        rows = self.rows(metric)
        for seed, explanation in sorted(self.by_seed.items()):
            for record in (explanation, rows.get(seed)):
                if record is not None and record.status != "ok":
                    return record.status, f"{record.status} (seed {seed}): {record.reason or 'no reason recorded'}"
        return "ok", ""

    def current(self, info: Row) -> dict[int, Row]:
        """Seed -> row of the metric, version and parameters of `info`."""
        return {seed: row for seed, row in self.rows(info.metric).items() if not outdated(row, info)}

    def incomplete(self, info: Row, table: Table) -> str:
        """Why the row cannot stand beside the others of the table; empty when it can.

        `info` is the row that stands for the metric in the table: see `versions.shown`.
        """
        _, reason = self.failure(info.metric)
        if reason:
            return reason
        rows = self.rows(info.metric)
        if missing := sorted(set(table.seeds) - set(rows)):
            return f"no result for seed {', '.join(map(str, missing))}"
        for seed, explanation in sorted(self.by_seed.items()):
            if explanation.weights_sha256 != self.weights[seed]:
                return f"explained on other weights (seed {seed})"
            if device_of(explanation) != table.device:
                return f"explained on {device_of(explanation) or 'an unknown device'} (seed {seed})"
        for seed, row in rows.items():
            if row.device and row.device != table.device:
                return f"scored on {row.device} (seed {seed})"
            if reason := outdated(row, info):
                return f"{reason} (seed {seed})"
        return ""
