"""The page about the models, one promise at a time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faithboard.report import files, models_page, render
from faithboard.report.page import GATE
from faithboard.stats.checks import ModelCheck
from tests.boards import Records, model, noisy

COST = {
    **{"seconds": 31.2, "standard_seconds": 10.4, "memory_mb": 84.5, "standard_memory_mb": 42.25},
    **{"device": "cpu", "dtype": "float32", "torch": "2.13.0", "threads": 1},
}


def page(**changes: Any) -> str:
    """Of one model in two seeds."""
    return models_page(Records([model(seed=0, **changes), model(seed=1)]).board())


def cells(text: str, heading: str, start: str) -> list[str]:
    """The cells of the row below a heading whose first cell is `start`."""
    lines = text.split(f"## {heading}")[1].splitlines()
    (row,) = [line for line in lines if line.startswith(f"| {start} ")]
    return [cell.strip() for cell in row.split("|")[1:-1]]


def test_the_cost_of_a_training_stands_beside_that_of_standard_training() -> None:
    assert cells(page(training_cost=COST), "Cost of training", "toy")[3:] == [
        *("31.2", "10.4", "3.0", "84.5", "42.2", "2.0"),
        "cpu, float32, torch 2.13.0, 1 thread",
    ]
    assert "Cost of training" not in page()


CHECK = ModelCheck("toy", "0123", "bilstm", "none", "standard", [0, 1], 400, 0.8, 0.77, 0.83, 0.01)


def compared(loss: float, wide: float, **others: Any) -> list[str]:
    """Cells of a control beside learned attention: its accuracy, that of the control, the loss, seeds, the verdict."""
    control = replace(
        CHECK, against="bilstm-additive", loss=loss, loss_low=loss - wide, loss_high=loss + wide, **others
    )
    board = replace(Records([model()], seeds=[0]).board(), checks=[control])
    return cells(models_page(board), "Does attention matter?", "toy")[3:]


@pytest.mark.parametrize(
    ("loss", "of_seed", "verdict"),
    [
        (0.05, {"0": 0.04, "1": 0.06}, "matters"),
        (-0.05, {"0": -0.04, "1": -0.06}, "hurts"),
        (0.01, {"0": 0.01, "1": 0.01}, "no difference shown"),
        (0.05, {"0": 0.1, "1": 0.0}, "no difference shown: not in every seed"),
        (-0.05, {"0": -0.1, "1": 0.0}, "no difference shown: not in every seed"),
        (0.05, {"0": 0.05}, "matters (one seed)"),
        (0.0, {"0": 0.0}, "no difference shown (one seed)"),
    ],
)
def test_attention_matters_only_in_every_seed(loss: float, of_seed: dict[str, float], verdict: str) -> None:
    assert compared(loss, 0.02, against_accuracy=0.85, seed_losses=of_seed)[-1] == verdict


def test_both_accuracies_are_of_the_seeds_that_both_have_and_the_others_are_named() -> None:
    found = compared(0.05, 0.02, against_accuracy=0.9, seed_losses={"0": 0.05}, lacking=[1, 2])
    assert found[:2] == ["additive 0.900", "none 0.850"]
    assert found[3] == "1 of 3 (not 1, 2)"
    nothing = replace(CHECK, against="bilstm-additive", lacking=[0, 1])
    board = replace(Records([model()], seeds=[0]).board(), checks=[nothing])
    assert cells(models_page(board), "Does attention matter?", "toy")[3:] == [
        *("additive -", "none -", "-", "0 of 2 (not 0, 1)", "-")
    ]


def test_lines_of_earlier_releases_say_what_they_know() -> None:
    assert compared(0.05, 0.02) == [
        *("additive 0.850", "none 0.800", "0.050 [0.030, 0.070]", "2", "not known for every seed")
    ]
    assert compared(0.05, 0.02, seeds=[0])[-2:] == ["1", "matters (one seed)"]


@pytest.mark.parametrize(
    ("gain", "verdict"),
    [
        ((0.2, 0.1, 0.3), "matters"),
        ((0.02, 0.01, 0.04), "**adds little**"),
        ((0.0005, -0.003, 0.004), "**adds little**"),
        ((-0.01, -0.02, -0.005), "hurts"),
        ((0.03, -0.01, 0.07), "no difference shown"),
    ],
)
def test_a_text_adds_little_where_all_of_its_interval_is_little(gain: tuple[float, float, float], verdict: str) -> None:
    value, low, high = gain
    asked = replace(CHECK, query_only=0.5, gain=value, gain_low=low, gain_high=high)
    board = replace(Records([model()], seeds=[0]).board(), checks=[asked])
    assert cells(models_page(board), "Does the text matter?", "toy")[-1] == verdict


def test_settings_are_told_where_they_are_not_those_of_the_profile() -> None:
    changed = model("imdb", config={"epochs": 2, "mask_share": 0.2, "mask_fill": "previous", "mask_weight": 1.0})
    found = models_page(Records([changed], seeds=[0]).board())
    assert cells(found, "Settings", "imdb")[-1] == "epochs 2 (profile 8), k 0.2, fill previous, lambda 1"
    plain = models_page(Records([model("imdb", config={"epochs": 8})], seeds=[0]).board())
    assert "Every reference model has the settings of its task's profile." in plain


def test_the_gate_is_explained_in_place_and_so_is_a_model_that_fails() -> None:
    found = page(gate_passed=False)
    assert GATE in found
    assert "see the page" not in found
    assert "- toy, bilstm-additive, standard: the model fails the accuracy gate (seed 0)." in found


def test_a_suite_of_models_alone_has_an_index_about_models(tmp_path: Path) -> None:
    board = Records([model(seed=0), model(seed=1), model("other", gate_passed=False)]).board()
    index = render(board)["README.md"]
    assert "[models.md](models.md): 2 models of 2 tasks (other, toy)" in index
    assert "not passing the accuracy gate: other bilstm-additive standard" in index
    assert "nothing ranked" not in index
    assert "explanation method" not in index
    # Whoever looks at the empty files finds out why they are.
    files.write(board, tmp_path)
    assert (tmp_path / "quick-v1" / files.ROWS).read_bytes() == b""
    assert "Files of lines about methods, as `rows.jsonl` is, are empty here." in index


def test_a_suite_of_models_and_probes_points_to_the_pages_of_its_tasks() -> None:
    made = Records([model(seed=0), model(seed=1)])
    made.add("", {"tau-attention-loo": noisy(0.3)})
    assert "Probes of the models: [toy](toy.md)." in render(made.board())["README.md"]
