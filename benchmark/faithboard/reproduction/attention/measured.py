"""What the probes found on each model of a suite, as arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from faithboard.records import Explanation, ModelRecord
from faithboard.stats import resampling

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy import ndarray

    from faithboard.results import Results

PREDICTED, LENGTH = "predicted-class", "scorable-length"
MOST_CLASSES = 3


@dataclass(frozen=True)
class Measured:
    """The probes of one task x model, in every seed that has them."""

    task: str
    model: str
    records: tuple[ModelRecord, ...]
    """One per seed, in the order of the columns' second axis."""
    examples: tuple[str, ...]
    columns: Mapping[str, Float[ndarray, "example seed"]]
    """Column of a probe -> values, NaN where undefined."""

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(record.seed for record in self.records)

    def mean(self, column: str, predicted: int | None = None) -> Float[ndarray, "example"]:
        """Mean over seeds of each example, NaN where no seed has a value; of one predicted class with `predicted`."""
        return resampling.mean_defined(self.of_class(column, predicted), 1)

    def of_class(self, column: str, predicted: int | None) -> Float[ndarray, "example seed"]:
        """A column, NaN where the model of the seed predicts another class than `predicted` (None: any)."""
        values = self.columns[column]
        return values if predicted is None else np.where(self.columns[PREDICTED] == predicted, values, np.nan)

    def classes(self, labels: Sequence[str]) -> list[int]:
        """Those of the task's classes that are predicted; none where answers are chosen among many, which the paper
        does not break down either."""
        found = self.columns[PREDICTED]
        return np.unique(found[np.isfinite(found)]).astype(int).tolist() if len(labels) <= MOST_CLASSES else []


def measured(results: Results) -> tuple[list[Measured], list[str]]:
    """Every task x model whose probes are stored, by name, and a note for each that is left out, or some of its seeds.

    Models of other weights than their probes take no part. What was asked for and failed is none of the notes.
    """
    probes = {one.model_key: one for one in results.explanations if one.method == ""}
    tables = {str(key): table for key, table in results.values.groupby("explain_key")}
    of_model: dict[tuple[str, str], list[tuple[ModelRecord, pd.DataFrame]]] = defaultdict(list)
    left: dict[str, list[int]] = defaultdict(list)
    for record in sorted(results.models, key=lambda record: (record.task, record.model, record.seed)):
        one = probes.get(record.key)
        if record.status != "ok" or (one is not None and one.status != "ok"):
            continue
        why = _left_out(record, one, tables)
        if why:
            left[f"{record.task}, {record.model}: left out, {why}"].append(record.seed)
        elif one is not None:
            of_model[record.task, record.model].append((record, tables[one.key]))
    found = []
    for (task, model), members in of_model.items():
        wide = [table.pivot(index="example", columns="metric", values="value").astype(float) for _, table in members]
        examples = sorted({str(name) for table in wide for name in table.index})
        names = sorted({str(name) for table in wide for name in table.columns})
        columns = {
            name: np.stack([table.reindex(index=examples, columns=names)[name].to_numpy() for table in wide], 1)
            for name in names
        }
        found.append(Measured(task, model, tuple(record for record, _ in members), tuple(examples), columns))
    return found, [f"{said} (seed {', '.join(map(str, seeds))})" for said, seeds in left.items()]


def _left_out(record: ModelRecord, probes: Explanation | None, tables: Mapping[str, pd.DataFrame]) -> str:
    """Why the probes of a trained model cannot be used; empty when they can."""
    if probes is None:
        return "it was not probed"
    if record.weights_sha256 != probes.weights_sha256:
        return "its probes asked other weights"
    if probes.key not in tables:
        return "the values of its probes are not here"
    if PREDICTED not in set(tables[probes.key]["metric"]):
        return f"its probes do not say the {PREDICTED}"
    return ""


def paired(a: Measured, b: Measured, column: str) -> Float[ndarray, "example"]:
    """a - b of each example that both have, mean over seeds first; NaN where either is undefined."""
    place = {name: at for at, name in enumerate(b.examples)}
    common = [(at, place[name]) for at, name in enumerate(a.examples) if name in place]
    own, other = np.array(common, dtype=int).reshape(-1, 2).T
    return a.mean(column)[own] - b.mean(column)[other]
