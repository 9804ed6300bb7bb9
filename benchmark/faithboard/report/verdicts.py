"""What the checks of the contract found, as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from faithboard.conformance import CHECKS, Finding
from faithboard.conformance.checking import Verdict

WIDTH = 80
_NAME = max(len(check.name) for check in CHECKS)


def verdict_text(verdict: Verdict, origin: str) -> str:
    """One line per check; below one that failed, its rule and the reason on each model, once where all agree."""
    lines = [f"{verdict.method} ({origin})"]
    for model, missing in verdict.unsupported.items():
        lines.append(f"  unsupported on {model}: it has no {missing}")
    if not verdict.findings:
        lines.append("  not checked: none of the models here has what it needs")
        return "\n".join(lines)
    lines.append(f"  tried on {'; '.join(verdict.findings)}")
    for at, check in enumerate(CHECKS):
        found = {model: findings[at] for model, findings in verdict.findings.items()}
        outcome = _together([one.outcome for one in found.values()])
        alike = len({(one.outcome, one.reason) for one in found.values()}) == 1
        reason = next(iter(found.values())).reason if alike else ""
        if outcome == "untried" and reason:
            lines += textwrap.wrap(
                f"{check.name:<{_NAME}}  untried: {reason}", WIDTH, initial_indent="  ", subsequent_indent="        "
            )
            continue
        lines.append(f"  {check.name:<{_NAME}}  {outcome}")
        if outcome == "failed":
            lines += _wrapped(f"rule: {check.rule}")
        if alike:
            lines += _wrapped(reason)
            continue
        for model, one in found.items():
            if one.outcome in (outcome, "untried") and one.reason:
                untried = "untried, " if one.outcome == "untried" != outcome else ""
                lines += _wrapped(f"{model}: {untried}{one.reason}")
    failed = verdict.failures
    ending = f"failed: {', '.join(failed)}" if failed else f"keeps the contract ({_counted(verdict)})"
    lines += textwrap.wrap(ending, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join(lines)


def _together(outcomes: Sequence[str]) -> str:
    """What a check found on all models: it failed on one, was tried on one, or on none."""
    return next((one for one in ("failed", "passed") if one in outcomes), "untried")


def _counted(verdict: Verdict) -> str:
    """`20 checks`, or `18 checks, 2 untried: the reasons`; a check that no model tried is untried."""
    reasons: dict[str, None] = {}
    untried = 0
    for found in zip(*verdict.findings.values(), strict=True):
        if _together([one.outcome for one in found]) == "untried":
            untried += 1
            reasons |= dict.fromkeys(one.reason for one in found)
    kept = f"{len(CHECKS) - untried} checks"
    return f"{kept}, {untried} untried: {'; '.join(reasons)}" if untried else kept


def model_verdict_text(name: str, origin: str, task: str, findings: Sequence[Finding]) -> str:
    """One line per check of a model; below one that failed its rule and the reason, below one untried the reason."""
    width = max(len(one.name) for one in findings)
    lines = [f"{name} ({origin})", f"  tried on texts of {task}"]
    for one in findings:
        lines.append(f"  {one.name:<{width}}  {one.outcome}")
        if one.outcome == "failed":
            lines += _wrapped(f"rule: {one.rule}")
        if one.reason:
            lines += _wrapped(one.reason)
    failed = [one.name for one in findings if one.outcome == "failed"]
    untried = sum(one.outcome == "untried" for one in findings)
    kept = f"keeps the contract ({len(findings) - untried} checks, {untried} do not apply to it)"
    ending = f"failed: {', '.join(failed)}" if failed else kept
    lines += textwrap.wrap(ending, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join(lines)


def _wrapped(text: str) -> Iterator[str]:
    for part in text.splitlines():
        yield from textwrap.wrap(
            part.strip(), WIDTH, initial_indent="      ", subsequent_indent="        ", break_on_hyphens=False
        )
