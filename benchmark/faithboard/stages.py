"""Where a retraining stands that is not finished: a folder for one explanation, gone when its rows are well.

<stage>.result        what came of a stage: texts, answers, weights
<stage>.checkpoint    where its training stands
<stage>.parts/        chunks of scores by the model of the stage
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from faithboard.atomic import read_parquet, write_parquet
from faithboard.tensor_files import read_state, write_state


class Stages:
    """The stages of one explanation by name. Every file appears at once; reading a damaged one raises StoreError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def finished(self, name: str) -> bool:
        """Whether the result of a stage is kept."""
        return (self.folder / f"{name}.result").is_file()

    def result(self, name: str) -> dict[str, Any] | None:
        """What came of a stage, tensors on the CPU; None while it is not finished."""
        return self._state(name, ".result")

    def save_result(self, name: str, state: Mapping[str, Any]) -> None:
        """Keep what came of a stage, and drop the checkpoints that led there."""
        self._save(name, ".result", state)
        for path in self.folder.glob("*.checkpoint"):
            path.unlink()

    def checkpoint(self, name: str) -> dict[str, Any] | None:
        """Where a training stands, or None."""
        return self._state(name, ".checkpoint")

    def save_checkpoint(self, name: str, state: Mapping[str, Any]) -> None:
        self._save(name, ".checkpoint", state)

    def part(self, name: str, number: int) -> pd.DataFrame | None:
        """Chunk `number` of the scores by the model of a stage, or None."""
        path = self._part(name, number)
        return read_parquet(path) if path.is_file() else None

    def save_part(self, name: str, number: int, scores: pd.DataFrame) -> None:
        path = self._part(name, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_parquet(path, scores)

    def _state(self, name: str, ending: str) -> dict[str, Any] | None:
        path = self.folder / f"{name}{ending}"
        return read_state(path) if path.is_file() else None

    def _save(self, name: str, ending: str, state: Mapping[str, Any]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_state(self.folder / f"{name}{ending}", state)

    def _part(self, name: str, number: int) -> Path:
        return self.folder / f"{name}.parts" / f"{number:05d}.parquet"
