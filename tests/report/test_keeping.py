"""Leaderboards that several machines add to: nothing is lost, nothing stands twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from faithboard.errors import SuiteError
from faithboard.report import files
from faithboard.report.keeping import together
from faithboard.stats.board import Board
from tests import boards
from tests.boards import Records, noisy
from tests.report.example import example_board


def of_task(task: str, mean: float = 0.5) -> Board:
    made = Records([boards.model(task, 0), boards.model(task, 1)])
    for method, own in (("attention", mean), ("random", 0.1)):
        made.add(method, {"comprehensiveness": noisy(own)}, of=task)
    return made.board()


def test_tables_of_two_machines_stand_together_whichever_comes_first() -> None:
    one, other = of_task("a"), of_task("b")
    both = together(one, other)
    assert [table.task for table in both.tables] == ["a", "b"]
    assert both == together(other, one)
    assert {line.task for line in both.standings} == {line.task for line in both.comparisons} == {"a", "b"}
    assert [line for line in both.standings if line.task == "b"] == list(other.standings)


def test_what_is_new_replaces_the_whole_table() -> None:
    before, new = together(of_task("a", 0.9), of_task("b")), of_task("a", 0.2)
    both = together(new, before)
    assert [line for line in both.standings if line.task == "a"] == list(new.standings)
    assert len(both.tables) == 2


def test_the_same_board_twice_is_itself() -> None:
    whole = example_board()
    again = together(whole, whole)
    assert replace(again, checks=whole.checks) == whole
    assert sorted(again.checks, key=str) == sorted(whole.checks, key=str)


def test_a_control_of_random_labels_goes_with_the_model_it_belongs_to() -> None:
    before = of_task("a")
    control = replace(before.tables[0], training="random-labels", key="a-v1/bilstm-additive/random-labels/0123")
    both = together(of_task("b"), replace(before, tables=[*before.tables, control]))
    assert [table.training for table in both.tables if table.task == "a"] == ["random-labels", "standard"]
    renewed = together(of_task("a"), replace(before, tables=[*before.tables, control]))
    assert [table.training for table in renewed.tables] == ["standard"]


def test_tables_stand_in_the_order_of_their_tasks() -> None:
    assert [table.task for table in together(of_task("planted-pair"), of_task("planted")).tables] == [
        "planted",
        "planted-pair",
    ]


def test_other_seeds_do_not_stand_together() -> None:
    other = of_task("b")
    with pytest.raises(SuiteError, match=r"other seeds \(0, 1 and 5\)"):
        together(of_task("a"), replace(other, tables=[replace(table, seeds=[5]) for table in other.tables]))


def test_pages_keep_what_the_results_do_not_have_only_when_asked(tmp_path: Path) -> None:
    files.write(of_task("a"), tmp_path)
    files.write(files.with_pages(of_task("b"), tmp_path), tmp_path)
    folder = tmp_path / "quick-v1"
    assert (folder / "a.md").is_file()
    assert (folder / "b.md").is_file()
    assert files.pages(files.read(folder), folder) == {
        path: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))
    }
    files.write(of_task("b"), tmp_path)
    assert not (folder / "a.md").is_file()
