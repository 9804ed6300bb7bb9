"""The same probes on models of other settings than the suite has: what can be tried where a number is far from print.

Whoever runs `faithboard reproduce attention-is-not-explanation --tasks sst --set vectors=random` leaves such models in
the results; the page of the suite shows what they change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from faithboard.config import SWITCHED_OFF, ModelConfig, TrainingConfig
from faithboard.records import Explanation, ModelRecord
from faithboard.reproduction.attention.conditions import far
from faithboard.reproduction.attention.correlations import tau_lines
from faithboard.reproduction.attention.lines import TauLine, TriedLine
from faithboard.reproduction.attention.measured import Measured, measured
from faithboard.results import gathered

if TYPE_CHECKING:
    from faithboard.store import Store

Variant = tuple[str, Measured]
"""What is not as in the suite, and what the probes found."""

SETTINGS = [field.name for kind in (ModelConfig, TrainingConfig) for field in fields(kind)]


def probed_variants(store: Store, own: Iterable[ModelRecord]) -> list[tuple[ModelRecord, Explanation]]:
    """Models with their probes that are not of the suite, but of the same tasks, data and names as its models `own`.

    Only records are read.
    """
    own = list(own)
    known, places = {record.key for record in own}, {_place(record) for record in own}
    probes = {one.model_key: one for one in store.explanations() if one.method == "" and one.status == "ok"}
    return [
        (record, probes[record.key])
        for record in store.models()
        if record.status == "ok" and record.key not in known and _place(record) in places and record.key in probes
    ]


def variants(store: Store, pairs: Iterable[tuple[ModelRecord, Explanation]], own: Sequence[Measured]) -> list[Variant]:
    """What the probes found on the examples that the suite's `own` models explain, once for each group of models that
    differ in nothing but the seed."""
    of_suite = {(one.task, one.model): one for one in own}
    groups: dict[tuple[str, str, str], list[tuple[ModelRecord, Explanation]]] = defaultdict(list)
    for record, probes in pairs:
        place = (record.task, record.model)
        if place in of_suite and (told := differing(record.config, of_suite[place].records[0].config)):
            groups[(*place, told)].append((record, probes))
    found = []
    for (task, _, told), members in sorted(groups.items(), key=lambda item: item[0]):
        records, asked = zip(*members, strict=True)
        results = gathered(store, task, 0, sorted({record.seed for record in records}), records, asked)
        found += [(told, one) for one in measured(results)[0] if one.examples == of_suite[one.task, one.model].examples]
    return found


def tried_lines(
    cells: Iterable[TauLine], found: Sequence[Variant], labels: Mapping[str, Sequence[str]]
) -> list[TriedLine]:
    """Of the `cells` that are far from print, what the variants have in their place. Pure."""
    known = [(told, line, one.seeds) for told, one in found for line in tau_lines([one], labels, {})]
    return [line for cell in cells if far(cell) for line in _tried(cell, known)]


def differing(config: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    """`hidden 64, activation tanh`: the settings of one model that another does not have; empty when there is none."""
    said = []
    for name in SETTINGS:
        value, usual = (one.get(name, SWITCHED_OFF.get(name)) for one in (config, own))
        if value != usual:
            said.append(f"{name} {value}")
    return ", ".join(said)


def _tried(cell: TauLine, known: Iterable[tuple[str, TauLine, Sequence[int]]]) -> Iterator[TriedLine]:
    for told, line, seeds in known:
        if (line.task, line.model, line.pair, line.predicted) == (cell.task, cell.model, cell.pair, cell.predicted):
            assert cell.published_mean is not None  # a cell without it is not far
            yield TriedLine(
                task=line.task,
                model=line.model,
                pair=line.pair,
                predicted=line.predicted,
                settings=told,
                seeds=list(seeds),
                mean=line.mean,
                seed_spread=line.seed_spread,
                difference=line.mean - cell.published_mean,
            )


def _place(record: ModelRecord) -> tuple[str, int, str, str, str]:
    return record.task, record.task_version, record.fingerprint, record.model, record.training
