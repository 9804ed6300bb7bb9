"""A submission tried on every model of `subjects`, and what comes of it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

from faithboard.attribution import Method
from faithboard.conformance import CHECKS, Finding, check_method
from faithboard.conformance.subjects import Subject


@dataclass(frozen=True)
class Verdict:
    """What the checks say of one method."""

    method: str
    findings: dict[str, tuple[Finding, ...]]
    """Name of a model -> one finding per check."""
    unsupported: dict[str, str]
    """Name of a model -> what it lacks of the method's needs."""

    @property
    def passed(self) -> bool:
        """True when it was tried on some model and no check failed."""
        return bool(self.findings) and not self.failures

    @property
    def failures(self) -> list[str]:
        """Names of the checks that failed on some model, in their order."""
        failed = {one.name for found in self.findings.values() for one in found if one.outcome == "failed"}
        return [check.name for check in CHECKS if check.name in failed]


def judged(method: Method, tried_on: Sequence[Subject]) -> Verdict:
    """Run every check on every model that has what the method needs. Prints and raises nothing."""
    findings: dict[str, tuple[Finding, ...]] = {}
    unsupported: dict[str, str] = {}
    for subject in tried_on:
        ready = method.given(subject.background)
        if missing := ready.needs - subject.model.capabilities:
            unsupported[subject.name] = ", ".join(sorted(missing))
        else:
            # A copy, so that a method that changes the model does not spoil the next.
            findings[subject.name] = tuple(check_method(ready, copy.deepcopy(subject.model), subject.batch))
    return Verdict(method.name, findings, unsupported)
