"""Which version of a metric a table shows, and what a row of another one is told. Versions are never mixed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from faithboard.records import Row


def shown(rows: Iterable[Row]) -> Row:
    """The row of a metric that stands for all: the newest version and, of that, the commonest parameters.

    Rows that are ok go before others, then the first key decides, so that the order of the rows does not.
    """
    rows = list(rows)
    newest = max(row.metric_version for row in rows)
    current = [row for row in rows if row.metric_version == newest]
    times = Counter(map(_parameters, current))
    return min(current, key=lambda row: (-times[_parameters(row)], _parameters(row), row.status != "ok", row.key))


def outdated(row: Row, info: Row) -> str:
    """Why a row is not of the version and parameters of `info`, which its table shows; empty when it is."""
    if row.metric_version != info.metric_version:
        return f"scored by version {row.metric_version} of {row.metric}, not {info.metric_version}"
    if _parameters(row) != _parameters(info):
        return f"scored with other parameters: {_parameters(row)}"
    return ""


def _parameters(row: Row) -> str:
    """As canonical JSON: a row that was stored and read back has lists where a fresh one may have tuples."""
    return json.dumps(row.parameters, sort_keys=True)
