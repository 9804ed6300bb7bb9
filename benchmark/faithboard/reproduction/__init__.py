"""Published experiments made again: our numbers beside theirs, a verdict for each, and their claims one by one.

results of a suite -> measured -> lines (pure statistics) -> page (pure) and figures
"""

from __future__ import annotations

from faithboard.errors import SuiteError, near

SUITES = {"attention-is-not-explanation": "attention-is-not-explanation"}
"""Name of a reproduction -> the suite that it is made of."""


def suite_of(name: str) -> str:
    """The suite of a reproduction. Raises SuiteError for an unknown one, with near names."""
    if name not in SUITES:
        raise SuiteError(f"unknown reproduction {name!r}: {near(name, SUITES)}")
    return SUITES[name]
