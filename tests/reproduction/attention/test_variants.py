"""What was tried where a number is far from print: which models count, and what is shown of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from faithboard.published import PublishedTau
from faithboard.records import Explanation, ModelRecord
from faithboard.reproduction.attention import conditions
from faithboard.reproduction.attention.correlations import tau_lines
from faithboard.reproduction.attention.lines import ModelLine, TauLine
from faithboard.reproduction.attention.measured import Measured
from faithboard.reproduction.attention.variants import differing, probed_variants, tried_lines, variants
from faithboard.store import Store
from tests.reproduction.attention import invented
from tests.reproduction.attention.invented import LABELS, columns

TAU = "attention-gradient"
OWN = {"vectors": "glove-6b-50d", "hidden": 128, "epochs": 8}

BESIDE = ModelLine(
    task="sst",
    published_task="sst",
    model="average-additive",
    seeds=[0, 1],
    gate_passed=True,
    reason="",
    vectors="glove-6b-50d",
    training_rows=100,
    reservations="",
    examples=4,
    measure="accuracy",
    performance=[0.8, 0.8],
    published_performance=None,
)


def model(tau: float, name: str = "average-additive", seeds: int = 2, **config: Any) -> Measured:
    values = columns({TAU: [[tau] * 4] * seeds}, [[0, 1, 0, 1]] * seeds)
    own = invented.measured("sst", name, values, config=OWN | config)
    # Records of other settings have other keys.
    said = "-".join(f"{key}={value}" for key, value in config.items())
    return replace(own, records=tuple(replace(record, key=f"{record.key}{said}") for record in own.records))


class Shelf:
    """What a store has, without files."""

    def __init__(self, *models: Measured) -> None:
        found = [invented.results([one]) for one in models]
        self._models = [record for one in found for record in one.models]
        self._explanations = [record for one in found for record in one.explanations]
        self._values = {
            str(key): table.drop(columns="explain_key")
            for one in found
            for key, table in one.values.groupby("explain_key")
        }
        self.predictions = lambda key: found[0].predictions
        self.scores = None

    def models(self) -> list[ModelRecord]:
        return self._models

    def explanations(self) -> list[Explanation]:
        return self._explanations

    def values(self, key: str) -> Any:
        return self._values[key]

    def throughput(self) -> list[Any]:
        return []


def store_of(*models: Measured) -> Store:
    return cast("Store", Shelf(*models))


def far_cells(own: Measured) -> list[TauLine]:
    """The cells of a model of which 0.2 is in print."""
    return tau_lines([own], LABELS, {("sst", own.model, TAU, None): PublishedTau(0.2, 0.1, 0.5)})


def test_settings_that_differ_are_named_and_those_that_are_off_are_not() -> None:
    assert differing(OWN | {"vectors": "random"}, OWN) == "vectors random"
    assert differing(OWN | {"hidden": 64, "activation": "tanh", "train_examples": 700}, OWN) == (
        "hidden 64, activation tanh, train_examples 700"
    )
    assert differing(OWN | {"precision": "float32", "init": None}, OWN) == ""


def test_models_of_the_suite_of_other_data_or_without_probes_are_no_variants() -> None:
    own, other = model(0.5), model(0.3, vectors="random")
    moved = replace(other, records=tuple(replace(one, fingerprint="other", key=f"{one.key}!") for one in other.records))
    store = store_of(own, other, moved)
    assert [record.key for record, _ in probed_variants(store, own.records)] == [one.key for one in other.records]
    bare = [replace(one, key="bare") for one in other.records]
    store.models().extend(bare)
    assert "bare" not in [record.key for record, _ in probed_variants(store, own.records)]


def test_a_far_cell_is_shown_with_what_was_tried() -> None:
    own, other, same = model(0.5), model(0.3, vectors="random"), model(0.9, seeds=3)
    store = store_of(own, other, same)
    found = variants(store, probed_variants(store, own.records), [own])
    assert [(told, one.seeds) for told, one in found] == [("vectors random", (0, 1))]
    cells = far_cells(own)
    tried = tried_lines(cells, found, LABELS)
    (line,) = tried
    assert line.predicted is None
    assert [line.mean, line.difference] == pytest.approx([0.3, 0.1])
    shown = conditions.far_cells(cells, [BESIDE], tried).splitlines()
    assert shown[1] == "    - tried: vectors random: 0.300 (+0.100), 2 seeds, standard deviation 0.000"
    assert len(shown) == 2


def test_near_cells_and_other_examples_are_left_alone() -> None:
    near, other = model(0.25), model(0.3, vectors="random")
    store = store_of(near, other)
    assert tried_lines(far_cells(near), variants(store, probed_variants(store, near.records), [near]), LABELS) == []
    own = model(0.5)
    fewer = replace(own, examples=own.examples[:3])
    assert variants(store, probed_variants(store, own.records), [fewer]) == []
