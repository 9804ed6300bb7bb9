from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from faithboard.records import ModelRecord
from faithboard.stats.checks import check_models


def record(model: str, seed: int = 0, task: str = "toy") -> ModelRecord:
    return ModelRecord(
        key=f"{task}-{model}-{seed}",
        task=task,
        task_version=1,
        fingerprint="f",
        fingerprint_name="generated",
        model=model,
        training="standard",
        seed=seed,
        config={},
    )


def predicted(one: ModelRecord, right: list[int], query_only: list[int] | None = None) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "model_key": one.key,
            "example": [f"e{i}" for i in range(len(right))],
            "right": np.array(right, dtype=float),
            "right_query_only": np.nan if query_only is None else np.array(query_only, dtype=float),
        }
    )


def test_accuracy_is_the_mean_over_seeds_and_spread_is_its_own() -> None:
    models = [record("bilstm-additive", 0), record("bilstm-additive", 1)]
    lines = pd.concat([predicted(models[0], [1, 1, 1, 0]), predicted(models[1], [1, 1, 0, 0])])
    (check,) = check_models(models, lines)
    assert check.accuracy == pytest.approx(5 / 8)
    assert check.seed_spread == pytest.approx(np.std([0.75, 0.5], ddof=1), rel=1e-5)
    assert check.seeds == [0, 1]
    assert check.n == 4
    assert check.low <= check.accuracy <= check.high
    assert check.loss is None
    assert check.gain is None


def test_a_control_is_compared_with_learned_attention_on_the_same_examples() -> None:
    learned, control = record("cnn-additive"), record("cnn-uniform")
    # The examples come in another order for one of them: pairing is by name.
    lines = pd.concat([predicted(learned, [1] * 40 + [0] * 10), predicted(control, [1] * 30 + [0] * 20).iloc[::-1]])
    by_name = {check.model: check for check in check_models([learned, control], lines)}
    check = by_name["cnn-uniform"]
    assert check.against == "cnn-additive"
    assert check.loss == pytest.approx(10 / 50)
    assert check.loss_low is not None
    assert 0 < check.loss_low < 0.2
    assert by_name["cnn-additive"].loss is None


def test_equal_predictions_lose_nothing_with_certainty() -> None:
    learned, control = record("cnn-additive"), record("cnn-random")
    lines = pd.concat([predicted(learned, [1, 0, 1]), predicted(control, [1, 0, 1])])
    check = next(one for one in check_models([learned, control], lines) if one.attention == "random")
    assert (check.loss, check.loss_low, check.loss_high) == (0.0, 0.0, 0.0)


def test_other_tasks_encoders_and_trainings_are_no_pair() -> None:
    learned, control = record("cnn-additive"), record("bilstm-none")
    lines = pd.concat([predicted(learned, [1, 0]), predicted(control, [1, 0])])
    assert all(check.against == "" for check in check_models([learned, control], lines))


def test_what_the_text_adds_to_the_query() -> None:
    one = record("bilstm-additive")
    (check,) = check_models([one], predicted(one, [1, 1, 1, 0], [1, 0, 0, 1]))
    assert check.query_only == pytest.approx(0.5)
    assert check.gain == pytest.approx(0.25)
    assert check.gain_low is not None
    assert check.gain_low < 0.25


def test_a_model_without_predictions_takes_no_part() -> None:
    one = record("bilstm-additive")
    assert check_models([one, record("bilstm-none")], predicted(one, [1, 0]))[0].model == "bilstm-additive"
    assert len(check_models([one, record("bilstm-none")], predicted(one, [1, 0]))) == 1
