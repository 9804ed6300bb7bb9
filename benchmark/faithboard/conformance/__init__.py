"""The contract of a method as small named checks. Every built-in passes them, and a submission is told which it fails.

A check runs a method on a model and a batch of texts and raises ContractError with the reason; `check_method` runs them
all and returns what each found. What a check compares is compared to within the tolerance of the contract.
"""

from __future__ import annotations

import copy

from faithboard.attribution import Method
from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.conformance.check import Check, Finding, Untried, tolerance
from faithboard.conformance.limits import LIMITS
from faithboard.conformance.scores import SCORES
from faithboard.conformance.state import CAUSES, STATE
from faithboard.conformance.texts import TEXTS
from faithboard.errors import ContractError
from faithboard.resolve import shortened

__all__ = ["CHECKS", "Check", "Finding", "Untried", "check_method", "tolerance"]

CHECKS: tuple[Check, ...] = (*SCORES[:1], *CAUSES, *SCORES[1:], *STATE, *TEXTS, *LIMITS)
"""Every check, in the order in which they are run and told: what makes many others fail comes first."""


def check_method(method: Method, model: Classifier, batch: Batch) -> list[Finding]:
    """Every check of `CHECKS`, in order. `batch` should hold texts of many lengths; 64 of them try all batch sizes.

    `method` has its background already, if it needs one, and needs nothing that `model` lacks. An exception from the
    method counts against the check in which it came; none is let through. Where the first check fails, no other is
    tried: each would fail for the same reason.
    """
    # Each check has a model of its own, or a change that an earlier one saw happen would be no change any more.
    first = _found(CHECKS[0], method, copy.deepcopy(model), batch)
    if first.outcome == "failed":
        untried = (Finding(one.name, one.rule, "untried", f"{first.name} failed") for one in CHECKS[1:])
        return [first, *untried]
    return [first, *(_found(check, method, copy.deepcopy(model), batch) for check in CHECKS[1:])]


def _found(check: Check, method: Method, model: Classifier, batch: Batch) -> Finding:
    try:
        check.run(method, model, batch)
    except Untried as reason:
        return Finding(check.name, check.rule, "untried", str(reason))
    except ContractError as error:
        return Finding(check.name, check.rule, "failed", str(error))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a submission may raise anything, and the finding says what
        return Finding(check.name, check.rule, "failed", f"it raised\n{shortened(error)}")
    return Finding(check.name, check.rule, "passed")
