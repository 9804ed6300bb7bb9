"""What a check is, what it finds, and how it compares scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from torch import Tensor

from faithboard.attribution import Method
from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.errors import ContractError
from faithboard.rng import Rng

if TYPE_CHECKING:
    from jaxtyping import Float

SEED = 0


class Untried(Exception):  # noqa: N818 - it is no error: the check says nothing here, and why
    """Raised by a check that cannot be made on this model."""


@dataclass(frozen=True)
class Check:
    """One rule of the contract and the function that tries a method against it."""

    name: str
    rule: str
    run: Callable[[Method, Classifier, Batch], None]
    """Raises ContractError where the method breaks the rule, and `Untried` where that cannot be told."""


@dataclass(frozen=True)
class Finding:
    """What one check found."""

    name: str
    rule: str
    outcome: Literal["passed", "failed", "untried"]
    reason: str = ""
    """Why it failed or could not be tried."""

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"


def tolerance(batch: Batch) -> float:
    """Largest difference that counts as equal, as a share of the example's largest absolute score."""
    return 1e-5 if batch.device.type == "cpu" else 1e-3


def scores_of(method: Method, model: Classifier, batch: Batch, seed: int = SEED) -> Float[Tensor, "batch token"]:
    """The scores of one draw. Raises ContractError where they do not even fit."""
    return method(model, batch, Rng(seed, batch)).scores


def compare(found: Tensor, expected: Tensor, batch: Batch, what: str) -> None:
    """Raise ContractError when scores of `batch` differ by more than the tolerance; extra columns must be padding."""
    found = found[:, : expected.shape[1]]
    scale = expected.abs().amax(1, keepdim=True)
    off = (found - expected).abs() / scale.where(scale > 0, 1.0)
    worst = float(off.max())
    if worst > tolerance(batch):
        row, token = divmod(int(off.argmax()), off.shape[1])
        raise ContractError(
            f"{what}: token {token} of example {batch.example_id[row]} has {float(found[row, token]):.6g} instead of "
            f"{float(expected[row, token]):.6g}, {worst:.1e} of the example's largest score apart"
        )
