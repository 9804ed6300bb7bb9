from __future__ import annotations

from dataclasses import replace

import pytest

from faithboard.reproduction.attention.claims import CLAIMS, Claim
from faithboard.reproduction.attention.lines import EvidenceLine
from faithboard.reproduction.attention.verdicts import claim_verdict, line_verdict

OF = {claim.name: claim for claim in CLAIMS}


def line(claim: str, task: str, holds: bool, low: float = 0.05) -> EvidenceLine:
    """Held against 0; the value is 0.1."""
    return EvidenceLine(claim, task, "bilstm-additive", "x", 0.1, low, 0.2, 10, 0.0, None, holds)


def said(claim: Claim, *found: EvidenceLine) -> str:
    return claim_verdict(claim, found, "nothing was run")


def test_a_verdict_counts_the_tasks_of_the_paper_and_names_those_beyond() -> None:
    claim = OF["encoders"]
    assert said(claim, line("encoders", "sst", True)) == "holds (sst)"
    assert said(claim, line("encoders", "sst", False)) == "does not hold"
    mixed = [line("encoders", "sst", True), line("encoders", "imdb", False), line("encoders", "snli", True)]
    assert said(claim, *mixed) == "holds for 2 of 3 tasks: sst, snli"
    assert (
        said(claim, *mixed, line("encoders", "movies", True))
        == "holds for 2 of 3 tasks: sst, snli; beyond the paper's tasks: holds (movies)"
    )
    assert said(claim) == "not testable here: nothing was run"


def test_a_substitute_is_counted_as_one() -> None:
    claim = OF["encoders"]
    ade, sst = line("encoders", "ade", True), line("encoders", "sst", True)
    assert said(claim, sst, ade) == "holds for all 2 tasks, one of them a substitute: sst, ade (for adr)"
    assert (
        said(claim, sst, ade, line("encoders", "imdb", False))
        == "holds for 2 of 3 tasks, one of them a substitute: sst, ade (for adr)"
    )
    assert said(claim, sst, replace(ade, holds=False)) == "holds for 1 of 2 tasks, one of them a substitute: sst"
    assert said(claim, ade) == "holds for ade (for adr)"


def test_one_number_that_fails_is_enough_for_a_task() -> None:
    for order in ((True, False), (False, True)):
        assert said(OF["pairs"], *(line("pairs", "sst", holds) for holds in order)) == "does not hold"


def test_the_exception_of_the_paper_does_not_count() -> None:
    both = [line("pairs", "sst", True), line("pairs", "snli", False)]
    assert said(OF["pairs"], *both) == "holds (sst)"


@pytest.mark.parametrize(
    ("holds", "low", "expected"),
    [
        (True, 0.05, "holds"),
        (True, -0.05, "holds, within its interval"),
        (True, 0.0, "holds, within its interval"),
        (False, -0.05, "does not hold, within its interval"),
        (False, 0.05, "does not hold"),
    ],
)
def test_an_interval_that_reaches_the_bound_is_said(holds: bool, low: float, expected: str) -> None:
    assert line_verdict(line("adversarial", "sst", holds, low)) == expected


def test_a_number_of_nothing_has_no_interval() -> None:
    nothing = replace(line("adversarial", "sst", False), value=0.0, low=0.0, high=0.0, n=0)
    assert line_verdict(nothing) == "does not hold"


def test_a_task_whose_interval_reaches_the_bound_is_named_so() -> None:
    found = [line("adversarial", "sst", True), line("adversarial", "snli", True, -0.05)]
    assert said(OF["adversarial"], *found) == "holds for all 2 tasks: sst, snli (within its interval)"
