"""What every kind of metric has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Metric:
    """What every kind of metric has. `name`, `version` and `parameters` are its identity."""

    name: str
    version: int
    better: Literal["higher", "lower", "neither"]
    source: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the rows it makes."""
        return (self.name,)

    @property
    def needed(self) -> frozenset[str]:
        """What a model must be able to do (`Classifier.capabilities`); one that is not has no row of the metric."""
        return frozenset()

    def masks_asked(self, length: int) -> int:
        """Masked texts that one draw of one example of T scorable tokens asks for at most."""
        return 0

    def own_steps(self, length: int) -> float:
        """Planned token steps, at most, of one draw of one example, special tokens apart."""
        return 0.0

    def shared_steps(self, length: int) -> float:
        """Planned token steps, at most, of one example that are spent once for all methods of a model."""
        return 0.0
