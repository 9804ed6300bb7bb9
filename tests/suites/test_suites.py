from __future__ import annotations

from pathlib import Path

import pytest

from faithboard import suites
from faithboard.errors import SuiteError
from faithboard.membership import definition
from tests import tiny

TOML = """
name = "mine"
version = 3
tasks = ["sst", "planted"]
models = ["bilstm-additive"]
methods = ["random", "my.py:Mine"]
metrics = ["comprehensiveness"]
seeds = [0, 1]
examples = 50
budget = 1000
[settings]
epochs = 2
[settings.planted]
epochs = 5
hidden = 16
"""


def test_a_suite_is_read_whole() -> None:
    read = suites.parse(TOML, "mine.toml")
    assert read.title == "mine v3"
    assert read.methods == ("random", "my.py:Mine")
    assert read.settings_for("sst") == {"epochs": 2}
    assert read.settings_for("planted") == {"epochs": 5, "hidden": 16}


@pytest.mark.parametrize("name", suites.names())
def test_built_in_suites_are_valid_and_named_like_their_file(name: str) -> None:
    assert suites.load(name).name == name


def test_the_suite_of_sanity_checks_plans_what_they_compare(tmp_path: Path) -> None:
    chosen = suites.changed(suites.load("sanity"), tasks=["planted"])
    plan = tiny.planned(chosen, tiny.place(tmp_path))
    trainings = ("standard", "random-labels", "word-deletion")
    assert [(job.training.procedure, job.seed) for job in plan.jobs] == [
        (one, at) for one in trainings for at in (0, 1)
    ]
    for job in plan.jobs:
        assert {one.name: one.state for one in job.explanations} == dict.fromkeys(chosen.methods, "run")
        # A control is explained, and its explanations are compared with those of standard training.
        expected = () if job.training.procedure == "random-labels" else chosen.metrics
        assert {tuple(metric.name for metric in one.metrics) for one in job.explanations} == {expected}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seeds =", "sseds =", "unknown key 'sseds'; did you mean seeds"),
        ("examples = 50\n", "", "missing examples"),
        ("seeds = [0, 1]", "seeds = 0", "seeds must be a list of at least one int"),
        ("seeds = [0, 1]", 'seeds = ["0"]', "seeds must be a list"),
        ("seeds = [0, 1]", "seeds = [1, 1]", "names something twice"),
        ("examples = 50", "examples = true", "examples must be int"),
        ("examples = 50", "examples = 0", "at least 1"),
        ("[settings.planted]", "[settings.plantd]", "no task of the suite; did you mean planted"),
        ("version = 3", "version = ", "not valid TOML"),
    ],
)
def test_a_mistake_is_named_with_the_file(old: str, new: str, message: str) -> None:
    with pytest.raises(SuiteError, match=message) as caught:
        suites.parse(TOML.replace(old, new), "mine.toml")
    assert "mine.toml" in str(caught.value)


def test_unknown_suites_get_near_names(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="did you mean quick"):
        suites.load("qick")
    with pytest.raises(SuiteError, match="there is no suite file"):
        suites.load(str(tmp_path / "none.toml"))


def test_a_file_is_a_suite(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(TOML, encoding="utf-8")
    assert suites.load(str(tmp_path / "mine.toml")).name == "mine"


def test_choosing_parts_keeps_the_identity_and_other_content_does_not() -> None:
    read = suites.parse(TOML, "mine.toml")
    part = suites.changed(read, tasks=["sst"], methods=["random", "attention"])
    assert (part.name, part.version, part.tasks) == ("mine", 3, ("sst",))
    assert suites.changed(read, examples=50, seeds=[0, 1]) == read
    for other in (
        suites.changed(read, examples=10),
        suites.changed(read, seeds=[0]),
        suites.changed(read, settings={"epochs": 1}),
    ):
        assert other.name.startswith("custom-")
        assert other.name != suites.changed(read, examples=11).name
    assert suites.changed(read, settings={"epochs": 1}).settings_for("sst") == {"epochs": 1}


def test_nothing_is_named_twice_on_the_command_line() -> None:
    read = suites.parse(TOML, "mine.toml")
    for change in ({"seeds": [0, 0]}, {"tasks": ["sst", "sst"]}, {"methods": ["random", "random"]}):
        with pytest.raises(SuiteError, match="twice"):
            suites.changed(read, **change)


@pytest.mark.parametrize("name", ["x/../y", "Mine", "", "a b"])
def test_files_are_called_by_the_name_of_a_suite(name: str) -> None:
    with pytest.raises(SuiteError, match="must be made of"):
        suites.parse(TOML.replace('name = "mine"', f'name = "{name}"'), "mine.toml")


def test_settings_stand_under_the_reference_or_the_name_of_a_task() -> None:
    text = TOML.replace('tasks = ["sst", "planted"]', 'tasks = ["my.py:TASK"]')
    read = suites.parse(text, "mine.toml")
    assert read.settings_for("my.py:TASK", "planted") == {"epochs": 5, "hidden": 16}
    assert read.settings_for("my.py:TASK", "other") == {"epochs": 2}


def test_an_unknown_origin_is_refused() -> None:
    with pytest.raises(SuiteError, match="unknown origin 'web'"):
        suites.parse('origin = "web"\n' + TOML, "mine.toml")


def test_negative_seeds_are_refused() -> None:
    with pytest.raises(SuiteError, match="negative"):
        suites.parse(TOML.replace("seeds = [0, 1]", "seeds = [-1]"), "mine.toml")
    with pytest.raises(SuiteError, match="negative"):
        suites.changed(suites.parse(TOML, "mine.toml"), seeds=[-1])


PER_TASK = TOML.replace("[settings]", '[models_of]\nsst = ["cnn-dot"]\n[examples_of]\nsst = 7\n[settings]')


def test_a_task_has_models_and_a_number_of_examples_of_its_own() -> None:
    read = suites.parse(PER_TASK, "mine.toml")
    assert read.models_for("sst") == ("bilstm-additive", "cnn-dot")
    assert read.models_for("planted") == ("bilstm-additive",)
    assert read.every_model == ("bilstm-additive", "cnn-dot")
    assert (read.examples_for("a.py:X", "sst"), read.examples_for("planted")) == (7, 50)


def test_what_is_asked_for_holds_for_every_task() -> None:
    read = suites.parse(PER_TASK, "mine.toml")
    other = suites.changed(read, models=["cnn-additive"])
    assert (other.name, other.models_for("sst")) == ("mine", ("cnn-additive",))
    same_number = suites.changed(read, examples=50)
    assert same_number.examples_for("sst") == 50
    assert same_number.name.startswith("custom-")


def test_numbers_of_examples_are_part_of_what_results_share() -> None:
    plain, own = suites.parse(TOML, "mine.toml"), suites.parse(PER_TASK, "mine.toml")
    assert definition(own) != definition(plain)
    assert definition(own) != definition(suites.parse(PER_TASK.replace("sst = 7", "sst = 8"), "mine.toml"))
    assert definition(own) == definition(suites.changed(own, models=["cnn-additive"]))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sst = 7", "sts = 7", "examples_of for 'sts', which is no task of the suite; did you mean sst"),
        ("sst = 7", "sst = 0", "at least 1"),
        ("sst = 7", 'sst = "7"', "examples_of.sst must be int"),
        ('sst = ["cnn-dot"]', "sst = []", "models_of.sst must be a list of at least one str"),
    ],
)
def test_mistakes_in_tables_by_task_are_named(old: str, new: str, message: str) -> None:
    with pytest.raises(SuiteError, match=message):
        suites.parse(PER_TASK.replace(old, new), "mine.toml")


def test_a_suite_needs_no_methods() -> None:
    text = TOML.replace('methods = ["random", "my.py:Mine"]', "methods = []")
    assert suites.parse(text, "mine.toml").methods == ()
