"""What is said of the checks of a method counts what was tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from faithboard.conformance import CHECKS, Finding
from faithboard.conformance.checking import Verdict
from faithboard.report.verdicts import verdict_text

Outcome = Literal["passed", "failed", "untried"]
REASON = "it has no finite answer"


def verdict(**outcomes: Mapping[int, Outcome]) -> str:
    """The text of what each model finds: every check passes but those given by number."""
    findings = {
        model: tuple(
            Finding(check.name, check.rule, outcome := own.get(at, "passed"), "" if outcome == "passed" else REASON)
            for at, check in enumerate(CHECKS)
        )
        for model, own in outcomes.items()
    }
    return verdict_text(Verdict("mine", findings, {}), "mine.py")


def test_what_no_model_tried_is_not_counted_and_says_why() -> None:
    shown = verdict(one={0: "untried", 1: "untried"}, two={0: "untried", 1: "untried"})
    assert f"keeps the contract ({len(CHECKS) - 2} checks, 2 untried: {REASON})" in " ".join(shown.split())
    assert f"{CHECKS[1].name:<19}  untried: {REASON}" in shown
    assert "one: " not in shown


def test_what_one_model_tried_is_passed_and_the_other_says_why_not() -> None:
    shown = verdict(one={0: "untried"}, two={})
    assert f"keeps the contract ({len(CHECKS)} checks)" in shown
    assert f"{CHECKS[0].name}" in shown
    assert f"one: untried, {REASON}" in shown
    assert "two: " not in shown


def test_a_failure_is_told_beside_what_could_not_be_tried() -> None:
    shown = verdict(one={2: "failed"}, two={2: "untried"})
    assert f"failed: {CHECKS[2].name}" in shown
    assert f"one: {REASON}" in shown
    assert f"two: untried, {REASON}" in shown
