"""A board together with what is on its pages already: a leaderboard that several machines or days add to. Pure.

A trained model stands with all its lines or not at all. The one statistic that looks at two trained models is the check
by random labels, so a model and its control of that training are kept together or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from faithboard.errors import SuiteError
from faithboard.stats.board import Board, Table
from faithboard.stats.checks import ModelCheck
from faithboard.stats.sanity import CONTROL
from faithboard.training.standard import STANDARD


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
    renewed = {_siblings(table) for table in new.tables if table.training == STANDARD.name}
    kept = {
        table.key
        for table in before.tables
        if table.key not in own and not (table.training == CONTROL and _siblings(table) in renewed)
    }
    order = {table.key: _position(table) for table in (*before.tables, *new.tables)}

    def lines(fresh: Sequence[L], old: Sequence[L]) -> list[L]:
        every = [*fresh, *(line for line in old if line.table in kept)]
        return sorted(every, key=lambda line: order[line.table])  # stable: the order within a table stays

    return replace(
        new,
        tables=sorted([*new.tables, *(table for table in before.tables if table.key in kept)], key=_position),
        standings=lines(new.standings, before.standings),
        comparisons=lines(new.comparisons, before.comparisons),
        probes=lines(new.probes, before.probes),
        costs=lines(new.costs, before.costs),
        checks=_checks(new.checks, before.checks),
        sanity=lines(new.sanity, before.sanity),
        method_agreement=lines(new.method_agreement, before.method_agreement),
        metric_agreement=lines(new.metric_agreement, before.metric_agreement),
    )


def _position(table: Table) -> tuple[str, int, str, str, str]:
    """Tables in the order in which they are ranked."""
    return table.task, table.task_version, table.fingerprint, table.model, table.training


def _siblings(table: Table) -> tuple[str, int, str, str]:
    return table.task, table.task_version, table.fingerprint, table.model


def _checks(new: Sequence[ModelCheck], before: Sequence[ModelCheck]) -> list[ModelCheck]:
    """A check of the same model is the new one. One that was held against a model that is new now stays as it was:
    both were measured at one time."""
    found = {_place(check): check for check in (*before, *new)}
    return [found[place] for place in sorted(found)]


def _place(check: ModelCheck) -> tuple[str, str, str, str, str]:
    return check.task, check.fingerprint, check.encoder, check.training, check.attention
