"""A board together with what is on its pages already: a leaderboard that several machines or days add to. Pure.

A trained model stands with all its lines or not at all, and no statistic of a table looks at another table, so tables
that were ranked apart can stand together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from faithboard.errors import SuiteError
from faithboard.stats.board import Board
from faithboard.stats.checks import ModelCheck


class _Line(Protocol):
    @property
    def table(self) -> str: ...


L = TypeVar("L", bound=_Line)


def together(new: Board, before: Board) -> Board:
    """`new`, and of `before` every table that it does not have: another task, data, architecture or training.

    Raises SuiteError when the two have other seeds: their intervals do not compare.
    """
    seeds = {tuple(table.seeds) for table in (*new.tables, *before.tables)}
    if len(seeds) > 1:
        said = " and ".join(sorted(", ".join(map(str, own)) for own in seeds))
        raise SuiteError(f"the pages to be kept were made with other seeds ({said}); write to another folder")
    own = {table.key for table in new.tables}
    kept = {table.key for table in before.tables} - own

    def lines(fresh: Sequence[L], old: Sequence[L]) -> list[L]:
        every = [*fresh, *(line for line in old if line.table in kept)]
        return sorted(every, key=lambda line: line.table)  # stable: the order within a table stays

    return replace(
        new,
        tables=sorted(
            [*new.tables, *(table for table in before.tables if table.key in kept)], key=lambda table: table.key
        ),
        standings=lines(new.standings, before.standings),
        comparisons=lines(new.comparisons, before.comparisons),
        probes=lines(new.probes, before.probes),
        costs=lines(new.costs, before.costs),
        checks=_checks(new.checks, before.checks),
        sanity=lines(new.sanity, before.sanity),
        method_agreement=lines(new.method_agreement, before.method_agreement),
        metric_agreement=lines(new.metric_agreement, before.metric_agreement),
    )


def _checks(new: Sequence[ModelCheck], before: Sequence[ModelCheck]) -> list[ModelCheck]:
    """A check of the same model is the new one. One that was held against a model that is new now stays as it was:
    both were measured at one time."""
    found = {_place(check): check for check in (*before, *new)}
    return [found[place] for place in sorted(found)]


def _place(check: ModelCheck) -> tuple[str, str, str, str, str]:
    return check.task, check.fingerprint, check.encoder, check.training, check.attention
