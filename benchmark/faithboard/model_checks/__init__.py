"""The contract of a `Classifier` as small named checks; every reference model passes them, and a person's own is told.

A check runs a model on a batch of texts and raises ContractError with the reason. What a check compares is compared to
within the tolerance of the contract, as a share of the largest value of the batch.
"""

from __future__ import annotations

from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.conformance.check import Finding, Untried
from faithboard.errors import ContractError
from faithboard.model_checks.abilities import ABILITIES
from faithboard.model_checks.check import ModelCheck
from faithboard.model_checks.outputs import OUTPUTS
from faithboard.resolve import shortened

__all__ = ["MODEL_CHECKS", "ModelCheck", "check_model", "require_fit"]

MODEL_CHECKS: tuple[ModelCheck, ...] = (*OUTPUTS, *ABILITIES)
"""Every check, in the order in which they are run and told."""

_FIT = ("attributes", "logits", "finite", "embedding")


def check_model(model: Classifier, batch: Batch) -> list[Finding]:
    """Every check of `MODEL_CHECKS`, in order, on texts of the task the model was made for; 64 of many lengths do.

    What the model raises counts against the check in which it came; none is let through.
    """
    return [_found(check, model, batch) for check in MODEL_CHECKS]


def require_fit(model: Classifier, batch: Batch) -> None:
    """Raise ContractError for a model that cannot be used at all: wrong shapes, answers that are not finite."""
    for check in MODEL_CHECKS:
        if check.name in _FIT and (found := _found(check, model, batch)).outcome == "failed":
            raise ContractError(f"{found.reason} ({found.name}: {found.rule})")


def _found(check: ModelCheck, model: Classifier, batch: Batch) -> Finding:
    try:
        check.run(model, batch)
    except Untried as reason:
        return Finding(check.name, check.rule, "untried", str(reason))
    except ContractError as error:
        return Finding(check.name, check.rule, "failed", str(error))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a model is anybody's code, and the finding says what it raised
        return Finding(check.name, check.rule, "failed", f"it raised\n{shortened(error)}")
    return Finding(check.name, check.rule, "passed")
