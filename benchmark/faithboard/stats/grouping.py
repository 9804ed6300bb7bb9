"""Which records stand in one table, and in one row of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from faithboard.errors import SuiteError
from faithboard.records import Explanation, ModelRecord, Row, Throughput
from faithboard.stats.board import Table
from faithboard.stats.entries import Entry
from faithboard.stats.versions import shown


def by_model(models: Sequence[ModelRecord], explanations: Iterable[Explanation]) -> Mapping[str, list[Explanation]]:
    """Key of the model -> its explanations. Raises SuiteError for those of no model."""
    found: dict[str, list[Explanation]] = defaultdict(list)
    for explanation in explanations:
        found[explanation.model_key].append(explanation)
    if lost := sorted(set(found) - {model.key for model in models}):
        raise SuiteError(
            f"explanations of models without a record: {', '.join(lost)}; `faithboard run` trains them again"
        )
    return found


def groups(suite: str, seeds: Sequence[int], models: Sequence[ModelRecord]) -> list[list[ModelRecord]]:
    """The models of each table, in the order of seeds. Raises SuiteError when no model has one of the seeds."""
    found: dict[tuple[str, int, str, str, str], list[ModelRecord]] = defaultdict(list)
    for model in sorted(models, key=lambda model: model.seed):
        if model.seed in seeds:
            found[model.task, model.task_version, model.fingerprint, model.model, model.training].append(model)
    if models and not found:
        wanted = ", ".join(map(str, seeds))
        raise SuiteError(f"{suite} has no model of its seeds {wanted}; `faithboard run` trains them")
    return [found[identity] for identity in sorted(found)]


def entries(
    table: Table, members: Sequence[ModelRecord], own: Iterable[Explanation], speeds: Mapping[str, list[Throughput]]
) -> list[Entry]:
    """One per method, in the order of names; the probes are the one without a name.

    Raises SuiteError when two explanations claim one place.
    """
    weights = {model.seed: model.weights_sha256 for model in members}
    by_method: dict[str, dict[int, Explanation]] = defaultdict(dict)
    for explanation in own:
        if explanation.seed in by_method[explanation.method]:
            raise SuiteError(
                f"two explanations by {explanation.method!r} in {table.key}, seed {explanation.seed}: keep one "
                "of them: `faithboard run` keeps the newest"
            )
        by_method[explanation.method][explanation.seed] = explanation
    return [
        Entry(method, by_seed, weights, [record for e in by_seed.values() for record in speeds.get(e.key, ())])
        for method, by_seed in sorted(by_method.items())
    ]


def metrics(entries: Sequence[Entry]) -> list[Row]:
    """The row that stands for each metric, in the order of names. Sanity checks are passed or not, never ranked."""
    by_name: dict[str, list[Row]] = defaultdict(list)
    for entry in entries:
        for explanation in entry.by_seed.values():
            for row in explanation.rows:
                if row.kind != "sanity":
                    by_name[row.metric].append(row)
    return [shown(by_name[name]) for name in sorted(by_name)]
