from __future__ import annotations

from dataclasses import replace

from faithboard.reproduction.attention import conditions
from faithboard.reproduction.attention.lines import DatasetLine, ModelLine, TauLine

MODEL = ModelLine(
    task="babi-1",
    published_task="babi-1",
    model="cnn-additive",
    seeds=[0, 1, 2],
    gate_passed=True,
    reason="",
    vectors="random",
    training_rows=9_000,
    reservations="",
    examples=300,
    measure="accuracy",
    performance=[0.625, 0.626, 0.549],
    published_performance=0.887,
    test=1_000,
)
CELL = TauLine(
    task="babi-1",
    model="cnn-additive",
    pair="gradient-loo",
    predicted=None,
    label="",
    n=300,
    mean=0.496,
    sd=0.1,
    seed_spread=0.046,
    significant=0.9,
    untestable=0.0,
    undefined=0.0,
    published_mean=0.304,
    difference=0.192,
)


def test_models_that_do_worse_than_in_print_are_named() -> None:
    better = replace(MODEL, model="cnn-dot", performance=[0.95, 0.97, 0.98])
    near = replace(MODEL, model="bilstm-dot", performance=[0.81, 0.807, 0.99])
    unknown = replace(MODEL, task="planted", published_performance=None)
    assert (
        conditions.below_print([MODEL, better, near, unknown])
        == "- babi-1, cnn-additive: accuracy 0.625 / 0.626 / 0.549 here, 0.887 published"
    )
    assert conditions.below_print([better, near, unknown]) == ""


def test_a_single_seed_that_does_worse_is_named_with_its_number() -> None:
    one = replace(MODEL, performance=[0.531, 0.852, 0.873])
    assert conditions.below_print([one]) == "- babi-1, cnn-additive, seed 0: accuracy 0.531 here, 0.887 published"


def test_a_far_cell_has_the_performance_beside_it_where_that_is_far_too() -> None:
    (told,) = conditions.far_cells([CELL], [MODEL]).splitlines()
    assert told == (
        "- babi-1, cnn-additive, gradient-loo, all: 0.496 here, 0.304 published (+0.192): accuracy 0.625 / 0.626 / "
        "0.549 here, 0.887 published; vectors random, 9,000 training rows, standard deviation over seeds 0.046"
    )
    one_seed = replace(MODEL, performance=[0.531, 0.852, 0.873])
    assert "accuracy 0.531 / 0.852 / 0.873 here" in conditions.far_cells([CELL], [one_seed])
    alike = replace(MODEL, performance=[0.85, 0.86, 0.95], reservations="epochs 2 (profile 8)", reason="fails")
    told = conditions.far_cells([CELL], [alike])
    assert "accuracy" not in told
    assert told.endswith("; epochs 2 (profile 8); fails")


def test_near_cells_and_those_without_a_published_number_are_not_far() -> None:
    near = [replace(CELL, difference=0.15), replace(CELL, difference=-0.15), replace(CELL, difference=None)]
    assert conditions.far_cells(near, [MODEL]) == "No cell differs by more than 0.15."
    assert conditions.far(replace(CELL, difference=-0.151))


def test_explained_texts_stand_beside_those_there_are_once_per_task() -> None:
    other = replace(MODEL, task="imdb", examples=60, test=20_762)
    assert (
        conditions.explained([MODEL, replace(MODEL, model="cnn-dot"), other])
        == "babi-1 300 of 1,000, imdb 60 of 20,762"
    )
    assert conditions.explained([replace(MODEL, test=None)]) == ""


def test_a_reason_is_given_once_for_all_numbers_of_a_task_that_it_explains() -> None:
    line = DatasetLine("imdb", "train", 9_298, 12_500, -0.26, "differs", "negative", "before the rule")
    lines = [
        replace(line, quantity="vocabulary", of="", why="reason not known"),
        line,
        replace(line, of="positive"),
        replace(line, quantity="test", of="negative"),
        replace(line, quantity="average length", of="", verdict="within 8 %", why=""),
    ]
    assert conditions.reasons(lines).splitlines() == [
        "- imdb (vocabulary): reason not known",
        "- imdb (train, test): before the rule",
    ]
    assert conditions.reasons(lines[-1:]) == ""
