"""What is stored becomes arrays, and what takes no part in them is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from faithboard.reproduction.attention.measured import PREDICTED, Measured, measured
from faithboard.results import Results
from tests.reproduction.attention import invented
from tests.reproduction.attention.invented import columns


def two_seeds() -> Measured:
    return invented.measured("sst", "bilstm-additive", columns({}, [[0, 1, 1], [0, 0, 1]]))


def stored(**changes: Any) -> Results:
    return replace(invented.results([two_seeds()]), **changes)


def test_the_arrays_come_back_from_stored_results() -> None:
    one = two_seeds()
    (back,), left_out = measured(stored())
    assert left_out == []
    assert (back.task, back.model, back.seeds, back.examples) == ("sst", "bilstm-additive", (0, 1), one.examples)
    for name, values in one.columns.items():
        np.testing.assert_array_equal(back.columns[name], values)


def test_probes_of_other_weights_take_no_part_which_is_said() -> None:
    first = stored().models[0]
    (back,), left_out = measured(
        stored(models=(first, invented.trained("sst", "bilstm-additive", 1, weights_sha256="others")))
    )
    assert back.seeds == (0,)
    assert left_out == ["sst, bilstm-additive: left out, its probes asked other weights (seed 1)"]


def test_a_model_without_probes_is_said_once_for_all_seeds() -> None:
    others = [invented.trained("sst", "cnn-additive", seed) for seed in (1, 0)]
    (back,), left_out = measured(stored(models=(*others, *stored().models)))
    assert back.model == "bilstm-additive"
    assert left_out == ["sst, cnn-additive: left out, it was not probed (seed 0, 1)"]


def test_probes_whose_values_are_not_here_are_said() -> None:
    values = stored().values
    gone = values[values["explain_key"] != "probes-sst-bilstm-additive-1"]
    (back,), left_out = measured(stored(values=gone))
    assert back.seeds == (0,)
    assert left_out == ["sst, bilstm-additive: left out, the values of its probes are not here (seed 1)"]


def test_probes_that_do_not_say_the_class_are_said() -> None:
    values = stored().values
    found, left_out = measured(stored(values=values[values["metric"] != PREDICTED]))
    assert found == []
    assert left_out == ["sst, bilstm-additive: left out, its probes do not say the predicted-class (seed 0, 1)"]


def test_what_failed_is_said_elsewhere() -> None:
    failed = tuple(replace(one, status="failed", reason="no memory") for one in stored().explanations)
    assert measured(stored(explanations=failed)) == ([], [])
    untrained = tuple(replace(one, status="failed") for one in stored().models)
    assert measured(stored(models=untrained)) == ([], [])
