"""Which models and explanations the results of a suite are made of. Pure: the content of its file in, the new one out.

Every method that was ever run under a suite's name and version stands on its board, until it is forgotten. Newer
results supersede older ones of the same place: an explanation that of the same method on the same model and seed, and a
model of other data or settings everything of its task, architecture and training. So no table mixes two data sets or
two configurations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from faithboard.errors import SuiteError, near
from faithboard.keys import digest
from faithboard.records import Explanation, ModelRecord
from faithboard.suites import Suite


@dataclass(frozen=True)
class SuiteMembers:
    """Which models and explanations (keys) the results of a suite are made of, and what it asks of them."""

    name: str
    version: int
    seeds: tuple[int, ...]
    metrics: tuple[str, ...]
    """Names of rows."""
    models: tuple[str, ...]
    explanations: tuple[str, ...]


def members(content: Mapping[str, Any]) -> SuiteMembers:
    """From the content of a suite's file."""
    return SuiteMembers(
        content["name"],
        content["version"],
        tuple(content["seeds"]),
        tuple(content["metrics"]),
        tuple(entry["key"] for entry in content["models"]),
        tuple(entry["key"] for entry in content["explanations"]),
    )


def with_results(
    content: Mapping[str, Any] | None,
    suite: Suite,
    metrics: Sequence[str],
    model: ModelRecord,
    explanations: Iterable[Explanation],
) -> dict[str, Any]:
    """The content with a model and explanations of it. `content` is None for a suite that has no results yet."""
    before: Mapping[str, Any] = content or {"metrics": [], "models": [], "explanations": []}
    place = {"task": model.task, "model": model.model, "training": model.training}
    # The size of the embedding is only known of models whose training succeeded.
    config = {name: value for name, value in model.config.items() if name != "embedding"}
    own = {
        **place,
        "seed": model.seed,
        "made_of": digest([model.task_version, model.fingerprint, config]),
        "key": model.key,
    }

    def stays(entry: Mapping[str, Any]) -> bool:
        elsewhere = any(entry[name] != value for name, value in place.items())
        return elsewhere or (entry["made_of"] == own["made_of"] and entry["seed"] != model.seed)

    models = [*(entry for entry in before["models"] if stays(entry)), own]
    kept = {entry["key"] for entry in models}
    fresh = [{"key": one.key, "on": model.key, "method": one.method} for one in explanations]
    methods = {entry["method"] for entry in fresh}
    old = [
        entry
        for entry in before["explanations"]
        if entry["on"] in kept and not (entry["on"] == model.key and entry["method"] in methods)
    ]
    return {
        "name": suite.name,
        "version": suite.version,
        "definition": definition(suite),
        "seeds": list(suite.seeds),
        "metrics": list(dict.fromkeys([*before["metrics"], *metrics])),
        "models": models,
        "explanations": [*old, *fresh],
    }


def merged(here: Mapping[str, Any] | None, there: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a suite's file with what another results folder has of the same suite; what is here stays.

    Of a task, architecture and training that is here, models of other data or settings are left out. Raises SuiteError
    when the two were made with other seeds, examples or settings.
    """
    if here is None:
        return dict(there)
    if here["definition"] != there["definition"]:
        raise SuiteError(
            f"results of {there['name']} v{there['version']} are here that were made with other seeds, examples or "
            "settings than those of the file; use another folder (--results)"
        )
    made_of = {_place(entry): entry["made_of"] for entry in here["models"]}
    seeds = {(*_place(entry), entry["seed"]) for entry in here["models"]}
    models = [
        *here["models"],
        *(
            entry
            for entry in there["models"]
            if made_of.get(_place(entry), entry["made_of"]) == entry["made_of"]
            and (*_place(entry), entry["seed"]) not in seeds
        ),
    ]
    kept = {entry["key"] for entry in models}
    taken = {(entry["on"], entry["method"]) for entry in here["explanations"]}
    explanations = [
        *here["explanations"],
        *(e for e in there["explanations"] if e["on"] in kept and (e["on"], e["method"]) not in taken),
    ]
    metrics = list(dict.fromkeys([*here["metrics"], *there["metrics"]]))
    return {**here, "metrics": metrics, "models": models, "explanations": explanations}


def _place(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    return entry["task"], entry["model"], entry["training"]


def definition(suite: Suite) -> str:
    """What results of one name and version must have in common: other seeds, examples or settings do not compare."""
    own = {task: dict(settings) for task, settings in suite.task_settings.items()}
    parts = [list(suite.seeds), suite.examples, dict(suite.settings), own, suite.origin]
    return digest([*parts, dict(suite.examples_of)] if suite.examples_of else parts)


def check_definition(content: Mapping[str, Any], suite: Suite) -> None:
    """Raise SuiteError when results of this name and version were made with another definition."""
    if content["definition"] != definition(suite):
        raise SuiteError(
            f"results of {suite.title} are stored that were made with other seeds, examples or settings; give the "
            "suite another name or version, or use another folder (--results)"
        )


def without_method(content: Mapping[str, Any], method: str) -> dict[str, Any]:
    """The content with every explanation by a method forgotten. Raises SuiteError when there is none."""
    known = {entry["method"] for entry in content["explanations"] if entry["method"]}
    if method not in known:
        raise SuiteError(f"{content['name']} v{content['version']} has no method {method!r}: {near(method, known)}")
    left = [entry for entry in content["explanations"] if entry["method"] != method]
    return {**content, "explanations": left}
