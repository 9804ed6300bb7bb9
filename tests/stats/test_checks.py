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


def test_a_comparison_is_on_the_seeds_that_both_have_and_says_which_are_lacking() -> None:
    learned, control = ([record(name, seed) for seed in (0, 1, 2)] for name in ("cnn-additive", "cnn-uniform"))
    right = {0: ([1, 1, 1, 1], [1, 1, 0, 0]), 1: ([1, 0, 0, 0], None), 2: ([1, 1, 1, 0], [1, 1, 1, 1])}
    lines = [predicted(learned[seed], ours) for seed, (ours, _) in right.items()]
    lines += [predicted(control[seed], theirs) for seed, (_, theirs) in right.items() if theirs is not None]
    by_name = {check.model: check for check in check_models([*learned, *control], pd.concat(lines))}
    check = by_name["cnn-uniform"]
    assert check.seeds == [0, 2]
    assert check.seed_losses == {"0": 0.5, "2": -0.25}
    assert check.loss == pytest.approx(0.125)
    assert check.against_accuracy == pytest.approx(7 / 8)
    assert check.lacking == [1]
    # What is said of learned attention itself is of all its seeds.
    assert by_name["cnn-additive"].accuracy == pytest.approx(8 / 12)


def test_without_a_seed_of_both_there_is_no_comparison_and_that_is_said() -> None:
    learned, control = ([record(name, seed) for seed in (0, 1)] for name in ("cnn-dot", "cnn-none"))
    lines = pd.concat([predicted(learned[0], [1, 0]), predicted(control[1], [1, 1])])
    check = next(one for one in check_models([*learned, *control], lines) if one.attention == "none")
    assert (check.against, check.loss, check.seed_losses, check.lacking) == ("cnn-dot", None, {}, [0, 1])


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
