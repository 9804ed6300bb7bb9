"""The results folder: the only place where results are written and read.

    models/<key>.safetensors, .json          a trained model: weights and record
    models/<key>.predictions.parquet         which test examples it gets right
    models/<key>.checkpoint                  where a training stands that is not finished
    explanations/<key>.json                  one method on one model: cost and rows
    explanations/<key>.scores.parquet        its scores, one row per example and draw
    explanations/<key>.values.parquet        its values per metric and example, with the points of the curve
    explanations/<key>.parts/                chunks of scores of an explanation that is not finished
    explanations/<key>.stages/<key>/         where retrainings stand that are not finished: see `stages`
    throughput/<key>.json                    speed records
    sources/<sha256>.py, .json               a submitted file, and what it defines; records name it in their provenance
    suites/<name>-v<version>.json            which explanations the last runs of a suite are made of

Every file appears at once, the old one or the new one whatever happens (`atomic`). The record of an explanation is
written last, so whatever has a record is complete.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from faithboard.atomic import read_json, read_parquet, write_json, write_parquet
from faithboard.atomic import write_atomically as write_atomically
from faithboard.errors import StoreError, SuiteError
from faithboard.membership import SuiteMembers, check_definition, members, with_results, without_method
from faithboard.records import Explanation, ModelRecord, Throughput
from faithboard.stages import Stages
from faithboard.tensor_files import read_state, read_weights, write_state, write_weights

if TYPE_CHECKING:
    from torch import Tensor

    from faithboard.sources import Source
    from faithboard.suites import Suite

_FOLDERS = ("models", "explanations", "throughput", "sources", "suites")


@dataclass(frozen=True)
class Index:
    """What a store holds, as the plan needs it."""

    models: Mapping[str, ModelRecord]
    explanations: Mapping[str, Explanation]
    throughput: frozenset[str]


class Store:
    """One results folder. Raises StoreError when it cannot be read or, where that is wanted, written."""

    def __init__(self, root: Path, *, writable: bool = True) -> None:
        self.root = root
        if not writable:
            if not root.is_dir():
                raise StoreError(f"there is no results folder {root}; `faithboard run` makes one (see --results)")
            return
        try:
            for folder in _FOLDERS:
                (root / folder).mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=root):
                pass
        except OSError as error:
            raise StoreError(
                f"the results folder {root} cannot be written ({error.strerror}); choose another with --results"
            ) from error

    # -- models

    def save_model(
        self, record: ModelRecord, weights: Mapping[str, Tensor] | None, predictions: pd.DataFrame | None = None
    ) -> None:
        """Store a trained model, its record last, and drop its checkpoint. A failed one is its record alone."""
        if weights is not None:
            write_weights(self._model(record.key, ".safetensors"), weights)
        if predictions is not None:
            write_parquet(self._model(record.key, ".predictions.parquet"), predictions)
        write_json(self._model(record.key, ".json"), record.to_json())
        self._model(record.key, ".checkpoint").unlink(missing_ok=True)

    def load_weights(self, key: str) -> dict[str, Tensor]:
        """Weights of a stored model. Raises StoreError when the file is missing or damaged."""
        return read_weights(self._model(key, ".safetensors"))

    def has_weights(self, key: str) -> bool:
        """Whether the weights of a model are here: results that were imported may come without."""
        return self._model(key, ".safetensors").is_file()

    def predictions(self, key: str) -> pd.DataFrame:
        """Which test examples a stored model gets right: columns example, right, right_query_only.

        1.0 or 0.0; on the query alone NaN where there is none. Empty for a model whose training failed.
        """
        path = self._model(key, ".predictions.parquet")
        if not path.is_file():
            return pd.DataFrame({"example": [], "right": [], "right_query_only": []})
        return read_parquet(path)

    def save_checkpoint(self, key: str, state: Mapping[str, Any]) -> None:
        """Keep the state of an unfinished training: tensors and plain values, in nested dicts and lists."""
        write_state(self._model(key, ".checkpoint"), state)

    def checkpoint(self, key: str) -> dict[str, Any] | None:
        """The kept state, on the CPU, or None. Raises StoreError when the file is damaged."""
        path = self._model(key, ".checkpoint")
        return read_state(path) if path.is_file() else None

    def model(self, key: str) -> ModelRecord | None:
        path = self._model(key, ".json")
        return ModelRecord.from_json(read_json(path)) if path.is_file() else None

    def models(self) -> list[ModelRecord]:
        return [ModelRecord.from_json(content) for content in self._read_all("models")]

    # -- explanations

    def part(self, key: str, number: int) -> pd.DataFrame | None:
        """Chunk `number` of an unfinished explanation, or None."""
        path = self._part(key, number)
        return pd.read_parquet(path) if path.is_file() else None

    def save_part(self, key: str, number: int, scores: pd.DataFrame) -> None:
        self._part(key, number).parent.mkdir(exist_ok=True)
        write_parquet(self._part(key, number), scores)

    def save_scores(self, key: str, scores: pd.DataFrame) -> None:
        """Store finished scores: columns example, draw, scores (one per scorable token), total."""
        write_parquet(self._explanation(key, ".scores.parquet"), scores)

    def scores(self, key: str) -> pd.DataFrame:
        return read_parquet(self._explanation(key, ".scores.parquet"))

    def save_explanation(self, record: Explanation, values: pd.DataFrame | None = None) -> None:
        """Store a record with its rows; `values` (metric, example, value, points) replace those of the same metrics."""
        if values is not None and len(values):
            path = self._explanation(record.key, ".values.parquet")
            if path.is_file():
                old = pd.read_parquet(path)
                values = pd.concat([old[~old["metric"].isin(values["metric"].unique())], values], ignore_index=True)
            write_parquet(path, values)
        write_json(self._explanation(record.key, ".json"), record.to_json())
        shutil.rmtree(self._part(record.key, 0).parent, ignore_errors=True)

    def values(self, key: str) -> pd.DataFrame:
        """Values per metric and example: columns metric, example, value, points. Empty when nothing was scored."""
        path = self._explanation(key, ".values.parquet")
        if not path.is_file():
            return pd.DataFrame({"metric": [], "example": [], "value": [], "points": []})
        return read_parquet(path)

    def stages(self, key: str, of: str) -> Stages:
        """Where retrainings of the explanation `key` stand; `of` is their `keys.stages_key`."""
        return Stages(self._explanation(key, ".stages") / of)

    def drop_stages(self, key: str) -> None:
        """Take away what an unfinished retraining has left: its rows are stored."""
        shutil.rmtree(self._explanation(key, ".stages"), ignore_errors=True)

    def explanation(self, key: str) -> Explanation | None:
        path = self._explanation(key, ".json")
        return Explanation.from_json(read_json(path)) if path.is_file() else None

    def explanations(self) -> list[Explanation]:
        return [Explanation.from_json(content) for content in self._read_all("explanations")]

    # -- sources

    def save_source(self, source: Source) -> None:
        """Store a submitted file under its hash, once; what it defines is added up over the runs."""
        path = self.root / "sources" / f"{source.sha256}.py"
        if not path.is_file():
            write_atomically(path, lambda temporary: temporary.write_bytes(source.content))
        known = path.with_suffix(".json")
        before = read_json(known)["defines"] if known.is_file() else []
        defines = sorted({*before, *source.defines})
        if defines != before:
            write_json(known, {"defines": defines})

    def source(self, sha256: str) -> str:
        """The text of a submitted file. Raises StoreError when it is not there or not what its name says."""
        path = self.root / "sources" / f"{sha256}.py"
        try:
            content = path.read_bytes()
        except OSError as error:
            raise StoreError(f"the source {path} cannot be read ({error.strerror})") from error
        if hashlib.sha256(content).hexdigest() != sha256:
            raise StoreError(f"the source {path} is not the file that was run (checksum)")
        return content.decode("utf-8", errors="replace")

    # -- throughput and suites

    def save_throughput(self, key: str, record: Throughput) -> None:
        write_json(self.root / "throughput" / f"{key}.json", record.to_json())

    def throughput(self) -> list[Throughput]:
        return [Throughput.from_json(content) for content in self._read_all("throughput")]

    def add_to_suite(self, suite: Suite, metrics: Sequence[str], model: str, explanations: Sequence[str]) -> None:
        """Note that the results of a suite hold this model and these explanations of it (keys); see `membership`."""
        record = self.model(model)
        if record is None:
            return
        path = self._suite(f"{suite.name}-v{suite.version}")
        content = read_json(path) if path.is_file() else None
        found = [one for key in explanations if (one := self.explanation(key)) is not None]
        write_json(path, with_results(content, suite, metrics, record, found))

    def check_suite(self, suite: Suite) -> None:
        """Raise SuiteError when results of the suite's name and version are stored that do not compare with it."""
        path = self._suite(f"{suite.name}-v{suite.version}")
        if path.is_file():
            check_definition(read_json(path), suite)

    def forget(self, suite: str, method: str) -> None:
        """Take a method off the results of a suite (as in `quick-v1`); its scores stay. Raises SuiteError."""
        path = self._suite(suite)
        if not path.is_file():
            raise SuiteError(f"{self.root} holds no results of suite {suite!r}")
        write_json(path, without_method(read_json(path), method))

    def suites(self) -> list[SuiteMembers]:
        """Every suite that was run into this folder, by name."""
        return [members(content) for content in self._read_all("suites")]

    def index(self) -> Index:
        """Everything stored, by key."""
        throughput = (self.root / "throughput").glob("*.json")
        return Index(
            {record.key: record for record in self.models()},
            {record.key: record for record in self.explanations()},
            frozenset(path.stem for path in throughput),
        )

    # -- the edge itself

    def _model(self, key: str, ending: str) -> Path:
        return self.root / "models" / f"{key}{ending}"

    def _suite(self, name: str) -> Path:
        return self.root / "suites" / f"{name}.json"

    def _explanation(self, key: str, ending: str) -> Path:
        return self.root / "explanations" / f"{key}{ending}"

    def _part(self, key: str, number: int) -> Path:
        return self.root / "explanations" / f"{key}.parts" / f"{number:05d}.parquet"

    def _read_all(self, folder: str) -> Iterable[dict[str, Any]]:
        return (read_json(path) for path in sorted((self.root / folder).glob("*.json")))
