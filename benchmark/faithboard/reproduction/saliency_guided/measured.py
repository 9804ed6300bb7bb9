"""What the metrics found on each model of a suite, as arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from faithboard.records import Explanation, ModelRecord, Row
from faithboard.reproduction.saliency_guided.comparing import METHODS, METRICS, NORMALISED, RANDOM, TRAININGS
from faithboard.stats import resampling

if TYPE_CHECKING:
    from jaxtyping import Bool, Float
    from numpy import ndarray

    from faithboard.results import Results

Cell = tuple[str, str]
"""(method, metric as the engine names its row)."""
CELLS = tuple((method, metric) for metric in METRICS for method in (*METHODS, RANDOM))


@dataclass(frozen=True)
class Measured:
    """The models of one task x model x training, in every seed that has one, and what is known of their methods."""

    task: str
    model: str
    training: str
    records: tuple[ModelRecord, ...]
    """One per seed, in the order of the second axis of values."""
    examples: tuple[str, ...]
    """Those of every training of the task and model."""
    values: Mapping[Cell, Float[ndarray, "example seed"]]
    """A random order's value stands in for an undefined one; NaN where there is none, as in a seed not scored."""
    undefined: Mapping[Cell, float]
    """Share of the scored (example, seed) without a value of its own."""
    rows: Mapping[Cell, tuple[Row, ...]]
    """The stored rows, one per scored seed."""

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(record.seed for record in self.records)

    @property
    def confidence(self) -> Float[ndarray, "seed"]:
        """Mean probability of the predicted class on the test split; NaN where it was not recorded."""
        return np.array([record.performance.get("confidence", np.nan) for record in self.records])

    @property
    def best_epochs(self) -> dict[int, int | None]:
        """Seed -> the epoch whose weights are kept; None where it was not recorded."""
        return {record.seed: record.provenance.get("best_epoch") for record in self.records}

    def scored(self, cell: Cell) -> tuple[int, ...]:
        """Seeds with a value of some example."""
        if cell not in self.values:
            return ()
        known = np.isfinite(self.values[cell]).any(0)
        return tuple(seed for seed, there in zip(self.seeds, known, strict=True) if there)

    def of(self, cell: Cell, seeds: Sequence[int], *, relative: bool = False) -> Float[ndarray, "example seed"]:
        """Values of some seeds; `relative` to the mean confidence of each seed's model, NaN for normalised values."""
        columns = [self.seeds.index(seed) for seed in seeds]
        values = self.values[cell][:, columns]
        if relative and METRICS[cell[1]][1] == NORMALISED:
            return np.full_like(values, np.nan)
        return values / self.confidence[columns] if relative else values


def mean_over_seeds(values: Float[ndarray, "example seed"]) -> Float[ndarray, "example"]:
    """NaN for an example without a value in any seed."""
    return resampling.mean_defined(values, 1)


def measured(results: Results) -> list[list[Measured]]:
    """The trainings of every task x model that has trained models, by name and in the order of `TRAININGS`.

    Explanations of other weights than the model has take no part.
    """
    models: dict[tuple[str, str], list[ModelRecord]] = defaultdict(list)
    for record in results.models:
        if record.status == "ok" and record.seed in results.seeds and record.training in TRAININGS:
            models[record.task, record.model].append(record)
    tables = {str(key): table for key, table in results.values.groupby("explain_key")}
    explained: dict[str, dict[str, Explanation]] = defaultdict(dict)
    for one in results.explanations:
        if one.status == "ok" and one.method in (*METHODS, RANDOM) and one.key in tables:
            explained[one.model_key][one.method] = one
    return [_group(records, explained, tables) for _, records in sorted(models.items())]


def _group(
    records: Sequence[ModelRecord],
    explained: Mapping[str, Mapping[str, Explanation]],
    tables: Mapping[str, pd.DataFrame],
) -> list[Measured]:
    """The trainings of one task x model."""
    known = {
        record.key: {
            method: one
            for method, one in explained.get(record.key, {}).items()
            if one.weights_sha256 == record.weights_sha256
        }
        for record in records
    }
    keys = [one.key for of_model in known.values() for one in of_model.values()]
    examples = sorted({str(name) for key in keys for name in tables[key]["example"].unique()})
    found = []
    for training in TRAININGS:
        own = sorted((one for one in records if one.training == training), key=lambda one: one.seed)
        if own:
            found.append(_measured(own, [known[one.key] for one in own], examples, tables))
    return found


def _measured(
    records: Sequence[ModelRecord],
    explained: Sequence[Mapping[str, Explanation]],
    examples: Sequence[str],
    tables: Mapping[str, pd.DataFrame],
) -> Measured:
    plain: dict[Cell, Float[ndarray, "example seed"]] = {}
    gaps: dict[Cell, Bool[ndarray, "example seed"]] = {}
    undefined: dict[Cell, float] = {}
    rows: dict[Cell, list[Row]] = defaultdict(list)
    for cell in CELLS:
        method, metric = cell
        columns = [
            _column(tables[of_model[method].key], metric) if method in of_model else pd.Series(dtype=float)
            for of_model in explained
        ]
        scored = sum(len(column) for column in columns)
        if not scored:
            continue
        plain[cell] = np.stack([column.reindex(list(examples)).to_numpy(dtype=float) for column in columns], 1)
        gaps[cell] = np.stack([column.isna().reindex(list(examples), fill_value=False) for column in columns], 1)
        undefined[cell] = sum(int(column.isna().sum()) for column in columns) / scored
        for of_model in explained:
            if method in of_model:
                rows[cell] += [row for row in of_model[method].rows if row.metric == metric and row.status == "ok"]
    values = {
        cell: np.where(gaps[cell], plain[RANDOM, cell[1]], own) if (RANDOM, cell[1]) in plain else own
        for cell, own in plain.items()
    }
    first = records[0]
    return Measured(
        task=first.task,
        model=first.model,
        training=first.training,
        records=tuple(records),
        examples=tuple(examples),
        values=values,
        undefined=undefined,
        rows={cell: tuple(found) for cell, found in rows.items()},
    )


def _column(table: pd.DataFrame, metric: str) -> pd.Series[float]:
    """Values of a metric by example."""
    own = table[table["metric"] == metric]
    return own.set_index("example")["value"].astype(float)
