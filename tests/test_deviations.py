"""What is said of a model whose settings are not those of its task's profile."""

from __future__ import annotations

from typing import Any

import pytest

from faithboard.config import configured
from faithboard.deviations import deviations
from faithboard.resolve import builtin
from faithboard.training import BUILTIN

TRAININGS = {training.name: training for training in BUILTIN}


def config(task: str, model: str = "bilstm-additive", training: str = "standard", **overrides: Any) -> dict[str, Any]:
    """What the record of a model holds."""
    known = builtin("task").get(task)
    own, trained = configured(model, known.value.profile if known else {}, overrides, training)
    return own.used | TRAININGS[training].used(trained)


@pytest.mark.parametrize("task", ["sst", "babi-1", "snli", "planted"])
def test_a_model_by_the_profile_has_nothing_to_say(task: str) -> None:
    assert deviations(config(task), "bilstm-additive", "standard", task) == ""


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"epochs": 2}, "epochs 2 (profile 8)"),
        ({"learning_rate": 0.01, "amsgrad": False}, "learning_rate 0.01 (profile 0.001), amsgrad false (profile true)"),
        ({"vectors": "/somewhere/of/mine/glove.txt"}, "vectors glove.txt (profile glove-6b-50d)"),
        (
            {"vectors": "random", "embedding_dim": 50, "missing": "normal"},
            "embedding_dim 50 (profile 300), vectors random (profile glove-6b-50d)",
        ),
        ({"missing": "normal"}, "missing normal (profile zero)"),
        ({"patience": 2}, "patience 2 (profile none)"),
        ({"select": "last", "patience": 2}, "select last (profile roc-auc)"),
        ({"precision": "bfloat16"}, "precision bfloat16 (profile float32)"),
        ({"embedding_dim": 100}, ""),
        ({"mask_share": 0.2}, ""),
    ],
)
def test_what_differs_is_said_with_what_the_profile_has(overrides: dict[str, Any], said: str) -> None:
    assert deviations(config("imdb", **overrides), "bilstm-additive", "standard", "imdb") == said


def test_what_a_masking_training_masks_is_always_said() -> None:
    found = deviations(config("sst", training="saliency-guided"), "bilstm-additive", "saliency-guided", "sst")
    assert found == "k 0.5, fill previous, lambda 1"
    other = config("sst", training="random-masking", mask_share=0.1, mask_fill="unk", init="standard")
    assert (
        deviations(other, "bilstm-additive", "random-masking", "sst")
        == "init standard (profile none), k 0.1, fill unk, lambda 1"
    )


def test_a_setting_that_came_later_is_switched_off_in_older_records() -> None:
    older = config("sst", "average-additive")
    assert "activation" not in older
    assert deviations(older, "average-additive", "standard", "sst") == ""
    tanh = config("sst", "average-additive", activation="tanh")
    assert deviations(tanh, "average-additive", "standard", "sst") == "activation tanh (profile relu)"


def test_a_task_that_is_not_built_in_is_held_against_the_defaults() -> None:
    assert deviations(config("mine", hidden=8), "bilstm-additive", "standard", "mine") == "hidden 8 (default 128)"


def test_a_table_has_the_width_of_its_vectors_and_no_path() -> None:
    of_table = config("imdb") | {"embedding_dim": 50}
    assert deviations(of_table, "bilstm-additive", "standard", "imdb") == ""


def test_a_persons_own_model_has_no_profile() -> None:
    own = {"own_model": "f" * 64, "source": "mine", "vectors": "its own"}
    assert deviations(own, "mine", "standard", "sst") == ""
