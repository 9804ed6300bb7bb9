"""A plan as text: a long list of metrics stands once, and every line says which one it means."""

from __future__ import annotations

from pathlib import Path

from faithboard import suites
from faithboard.cli.planned import MetricLists, table
from tests import tiny

LONG = ["comprehensiveness", "sufficiency", "naopc-comprehensiveness", "naopc-sufficiency", "precision@k"]


def test_a_short_list_of_metrics_stands_in_its_line(tmp_path: Path) -> None:
    chosen = suites.changed(tiny.SUITE, metrics=["comprehensiveness", "precision@k"])
    shown = table(tiny.planned(chosen, tiny.place(tmp_path)))
    assert line_of(shown, "gradient-l2").endswith("comprehensiveness, precision@k")


def test_a_long_list_of_metrics_stands_once_below_the_table(tmp_path: Path) -> None:
    shown = table(tiny.planned(suites.changed(tiny.SUITE, metrics=LONG), tiny.place(tmp_path)))
    assert line_of(shown, "gradient-l2").endswith("5 metrics (a)")
    assert shown.count("naopc-comprehensiveness") == 1
    assert f"(a) {', '.join(LONG)}" in " ".join(shown.split())


def test_different_lists_have_different_letters() -> None:
    lists = MetricLists()
    cells = [lists.cell(tuple(LONG[:4])), lists.cell(tuple(LONG)), lists.cell(tuple(LONG[:4]))]
    assert cells == ["4 metrics (a)", "5 metrics (b)", "4 metrics (a)"]
    assert [line[:4] for line in lists.legend() if line] == ["(a) ", "(b) "]


def test_letters_go_on_after_z() -> None:
    lists = MetricLists()
    cells = [lists.cell(("one", "two", "three", str(number))) for number in range(28)]
    assert [cell.split()[-1] for cell in cells[25:]] == ["(z)", "(aa)", "(ab)"]


def line_of(shown: str, name: str) -> str:
    return next(line.rstrip() for line in shown.splitlines() if line.startswith(f"- {name} "))
