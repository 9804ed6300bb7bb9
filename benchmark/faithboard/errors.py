"""The errors a person can meet. Each message says what is wrong, where, which rule it breaks and how to mend it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FaithboardError(Exception):
    """Base of every error that is the user's to mend; the command line prints it without a traceback."""


class DataError(FaithboardError):
    """A data set, vectors file or cached text is missing, malformed or not what it claims to be."""


class ContractError(FaithboardError):
    """A method, metric or model broke its contract: wrong shape, non-finite scores, a changed model."""


class ResolveError(FaithboardError):
    """A name or `file.py:attr` does not lead to exactly one definition."""


class SuiteError(FaithboardError):
    """A suite file, or a combination of task, model and method, makes no sense."""


class StoreError(FaithboardError):
    """The results folder cannot be read or written."""


class TrackingError(FaithboardError):
    """MLflow cannot be reached or refused a record. Results are in the store; the sync can be repeated."""


def near(name: str, known: Iterable[str]) -> str:
    """A hint for an unknown name: the closest known names, or all of them when none is close."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(names)}"
