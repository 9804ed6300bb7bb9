"""Scores of an explanation as they are read back: by example, and as one tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from faithboard.batch import Batch

if TYPE_CHECKING:
    from jaxtyping import Float32


@dataclass(frozen=True)
class Read:
    """Scores and promised totals of one explanation, by example."""

    scores: Mapping[str, Sequence[np.ndarray]]
    """Example -> scores of each draw."""
    totals: Mapping[str, Sequence[float]]
    """Example -> promised total of each draw, NaN without one."""

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Read:
        """From columns example, draw, scores, total."""
        groups = frame.sort_values("draw").groupby("example")
        return cls(
            {str(name): list(group) for name, group in groups["scores"]},
            {str(name): list(group) for name, group in groups["total"]},
        )

    @property
    def draws(self) -> int:
        return len(next(iter(self.scores.values()), ()))

    @property
    def promises(self) -> bool:
        """Whether the method promises a total for any text."""
        return any(not np.isnan(total) for totals in self.totals.values() for total in totals)


def dense(scores: Sequence[np.ndarray], batch: Batch) -> Float32[Tensor, "batch token"]:
    """Scores of the scorable tokens of each text as one tensor, 0 elsewhere."""
    found = torch.zeros(batch.ids.shape)
    scorable = batch.scorable.cpu()
    for row, values in enumerate(scores):
        found[row, scorable[row]] = torch.from_numpy(np.array(values, dtype=np.float32))
    return found.to(batch.device)
