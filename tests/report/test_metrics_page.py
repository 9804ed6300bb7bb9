"""The page that ranks the metrics, and the sanity tables, one promise at a time; golden files hold the whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from faithboard.report import console_table, readme_block, render
from faithboard.report.agreement import metrics_page, operator_warnings
from faithboard.stats import Board
from faithboard.stats.agreed import MetricAgreement
from tests.report.example import METRICS, example_board, pair


@pytest.fixture(scope="module")
def board() -> Board:
    return example_board()


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")[1:-1]]


def lines_of(page: str, heading: str) -> list[str]:
    return page.split(heading)[1].split("\n## ")[0].splitlines()


def test_the_index_links_to_the_page_where_there_is_one(board: Board) -> None:
    assert "[metrics.md](metrics.md)" in render(board)["README.md"]
    without = replace(board, metric_agreement=[], method_agreement=[])
    assert metrics_page(without) == ""
    assert "metrics.md" not in render(without)
    assert "metrics.md" not in render(without)["README.md"]


def test_metrics_stand_in_the_order_of_their_agreement_with_known_truth(board: Board) -> None:
    found = [cells(line) for line in lines_of(render(board)["metrics.md"], "## Which metric") if line.startswith("| `")]
    assert [row[0] for row in found] == ["`sufficiency`", "`comprehensiveness`", "`comprehensiveness-unk`"]
    assert found[0][1:] == ["1.000 [0.333, 1.000]", "1.00 / 1.00", "1.000 [0.333, 1.000]", "0 of 2", "3"]
    assert found[2][1:] == ["-", "-", "-", "0 of 0", "3"]


def truth_page(board: Board, **apart: int) -> str:
    """The section on known truth that tells so many pairs of methods apart on each task; no metric does on `mute`."""
    tables = [
        replace(board.tables[0], key=task, task=task, known_truth={"verified": 1.0}, fingerprint_name="generated")
        for task in apart
    ]
    like = next(one for one in board.standings if one.metric == "comprehensiveness" and not one.reason)
    standings = [
        replace(one, table=task, method=method, method_kind="sensitivity")
        for task in apart
        for method in "abc"
        for one in (like, replace(like, metric="precision@k", metric_kind="rationale"))
    ]
    compared = next(one for one in board.comparisons if one.metric == "precision@k")
    comparisons = [
        replace(compared, table=task, a=a, b=b, better=a if at < told else "")
        for task, told in apart.items()
        for at, (a, b) in enumerate((("a", "b"), ("a", "c"), ("b", "c")))
    ]
    lines = [
        replace(
            pair("comprehensiveness", "precision@k", tau, relation="truth", decided=0 if task == "mute" else told),
            table=task,
        )
        for tau, (task, told) in zip((0.25, 0.75, 0.8, 0.9), apart.items(), strict=False)
    ]
    made = replace(board, tables=tables, standings=standings, comparisons=comparisons, metric_agreement=lines)
    return metrics_page(made).split("## Which metric")[1].split("\n## ")[0]


def test_truth_that_tells_no_two_methods_apart_ranks_no_metric(board: Board) -> None:
    page = truth_page(board, silent=0)
    assert "truth tells no two methods apart (3 pairs), so it ranks no metric." in page
    assert "| `comprehensiveness`" not in page
    assert "| `comprehensiveness` | 0.350" in truth_page(board, loud=3)


def test_a_metric_that_tells_none_of_the_pairs_apart_has_no_tau(board: Board) -> None:
    page = truth_page(board, loud=3)
    assert "truth tells 3 of 3 pairs of methods apart" in page
    undecided = replace(board, metric_agreement=[replace(one, decided=0) for one in board.metric_agreement])
    found = [cells(line) for line in lines_of(metrics_page(undecided), "## Which metric") if line.startswith("| `")]
    assert ["`sufficiency`", "no two methods told apart in both", "-", "-", "0 of 0", "3"] in found


def test_the_mean_over_models_is_of_those_on_which_truth_decides(board: Board) -> None:
    page = truth_page(board, one=3, silent=0, other=3, mute=3)
    mean = next(line for line in page.splitlines() if line.startswith("| `"))
    assert cells(mean) == ["`comprehensiveness`", "0.625", "2 of 3", "0.350", "0.900", "-"]
    assert page.count("<details>") == 3


def test_medians_are_no_part_of_the_page_even_in_lines_of_earlier_releases(board: Board) -> None:
    old = [pair("completeness", "comprehensiveness", 0.3, relation="metric")]
    like = next(one for one in board.standings if one.table == old[0].table and one.metric == "comprehensiveness")
    median = replace(like, metric="completeness", metric_kind="amounts", statistic="median")
    made = replace(board, metric_agreement=[*board.metric_agreement, *old], standings=[*board.standings, median])
    assert "completeness" not in metrics_page(made)
    assert "completeness" in metrics_page(replace(made, standings=board.standings))


def test_agreement_with_marked_tokens_that_are_not_planted_is_no_known_truth(board: Board) -> None:
    said = [line for line in lines_of(render(board)["metrics.md"], "## Which metric") if line.startswith("- ")]
    assert [line.split(",")[0] for line in said if "truth tells" in line] == ["- planted"]


def test_known_truth_is_not_averaged_with_what_people_marked(board: Board) -> None:
    planted, movies = (next(table for table in board.tables if table.task == task) for task in ("planted", "movies"))
    taus = {planted.key: 0.8, movies.key: 0.2}
    lines = []
    for table in (planted, movies):
        place = (table.key, table.task, table.model, table.training, "comprehensiveness")
        lines.append(MetricAgreement(*place, "sufficiency", "metric", 4, taus[table.key]))
        relation: Literal["truth", "metric"] = "truth" if table is planted else "metric"
        lines.append(MetricAgreement(*place, "precision@k", relation, 4, taus[table.key], decided=2))
    page = metrics_page(replace(board, metric_agreement=lines))
    section = page.split("## Metrics with metrics")[1].split("<details>")[0]
    rows = {row[1]: row[2:] for line in section.splitlines() if line.startswith("|") and (row := cells(line))}
    assert rows["`sufficiency`"][0] == "0.50"
    assert rows["`precision@k` (known truth)"][0] == "0.80"
    assert rows["`precision@k` (plausibility)"][0] == "0.20"


def test_truth_that_decides_nothing_is_no_agreement_between_metrics(board: Board) -> None:
    planted = next(table for table in board.tables if table.task == "planted")
    place = (planted.key, planted.task, planted.model, planted.training, "comprehensiveness")
    lines = [MetricAgreement(*place, name, "metric", 4, 0.5) for name in ("sufficiency", "auprc")]
    for decided, shown in ((0, False), (2, True)):
        truth = MetricAgreement(*place, "precision@k", "truth", 4, 0.8, decided=decided)
        page = metrics_page(replace(board, metric_agreement=[*lines, truth]))
        assert ("`precision@k` (known truth)" in page.split("## Metrics with metrics")[1]) == shown


def test_a_ranking_that_depends_on_the_operator_is_said_on_both_pages(board: Board) -> None:
    said = "**The ranking by comprehensiveness depends on how words are taken away**"
    assert said in render(board)["planted.md"]
    assert said in render(board)["metrics.md"]
    assert said not in render(board)["movies.md"]
    calm = replace(board, metric_agreement=[replace(one, reversed=0) for one in METRICS])
    assert [operator_warnings(calm, table) for table in board.tables] == [[]] * len(board.tables)
    assert "No pair of methods" in render(calm)["metrics.md"]


def test_the_lowest_pair_of_operators_stands_for_all(board: Board) -> None:
    line = next(
        line for line in lines_of(render(board)["metrics.md"], "## Does the") if "| comprehensiveness |" in line
    )
    assert cells(line)[2:] == [
        "0.556",
        "0.333 [0.133, 0.533]",
        "`comprehensiveness` and `comprehensiveness-unk`",
        "1 of 8",
    ]


def test_operators_are_named_by_the_metric_they_share() -> None:
    only = pair("sufficiency-unk", "sufficiency-zero", 0.5, decided=2, reversed=1)
    board = replace(example_board(), metric_agreement=[only])
    assert "The ranking by sufficiency depends" in render(board)["planted.md"]


def test_a_verdict_that_could_turn_is_marked(board: Board) -> None:
    section = render(board)["planted.md"].split("### Sanity")[1].split("### Cost")[0]
    rows = {row[0]: row[1:] for line in section.splitlines() if line.startswith("| `") and len(row := cells(line)) == 6}
    assert rows["`leave-one-out`"][2] == "passes"
    assert rows["`attention`"][2:] == ["passes ?", "0.700 [0.650, 0.750]", "**fails**"]
    assert rows["`gradient-x-input`"] == ["-"] * 5
    assert "no verdict on `gradient-x-input`: skipped (seed 0): over the budget." in section
    assert "### Sanity" not in render(board)["movies.md"]


def test_models_of_shuffled_labels_are_no_part_of_the_leaderboard(board: Board) -> None:
    weak = [replace(one, training="random-labels") if one.task == "weak" else one for one in board.tables]
    shown = replace(board, tables=weak)
    assert "random-labels" not in render(shown)["README.md"]
    assert "random-labels" in render(shown)["models.md"]
    assert "## bilstm-additive, random-labels training" not in render(shown).get("weak.md", "")
    assert "random-labels" not in console_table(shown)
    first = replace(board, tables=[replace(board.tables[0], training="random-labels"), *board.tables])
    assert readme_block(first) == readme_block(board)
