"""What a page says, against golden files and one promise at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from faithboard.report import console_table, readme_block, render
from faithboard.stats import Board
from tests.boards import Records, model, noisy
from tests.report.example import example_board, golden_texts


@pytest.fixture(scope="module")
def board() -> Board:
    return example_board()


def test_pages_equal_the_golden_files() -> None:
    for path, text in golden_texts().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} changed: see tests/report/example.py"


def test_unverified_data_is_marked_on_the_page_and_in_the_terminal(board: Board) -> None:
    assert "**UNVERIFIED DATA**" in render(board)["movies.md"]
    assert "UNVERIFIED DATA" not in render(board)["planted.md"]
    assert "(UNVERIFIED DATA)" in console_table(board)
    assert "[movies](movies.md) (UNVERIFIED DATA)" in render(board)["README.md"]


def test_data_smaller_than_published_is_said_wherever_figures_are(board: Board) -> None:
    said = "(train 1,200 of 6,920 published rows)"
    assert f"[planted](planted.md) {said}" in render(board)["README.md"]
    assert said in console_table(board)
    assert "| train   |       6,920 |  1,200 |" in render(board)["planted.md"]


def test_a_tie_and_its_rank_interval_are_visible(board: Board) -> None:
    line = next(line for line in render(board)["planted.md"].splitlines() if line.startswith("| `attention`"))
    assert "2= (2-3)" in line


def test_a_failed_gate_is_said_and_no_rank_is_shown(board: Board) -> None:
    page = render(board)["weak.md"]
    assert "**Nothing here is ranked: the model fails the accuracy gate (seed 0, 1).**" in page
    assert "0.470 <= 0.500 (**not passed**)" in page
    assert "nothing ranked: the model fails" in render(board)["README.md"]


def test_plausibility_stands_apart_from_faithfulness(board: Board) -> None:
    faithfulness, plausibility = render(board)["movies.md"].split("### Plausibility")
    assert "precision@k" not in faithfulness.split("### Faithfulness")[1]
    assert "Plausibility is not faithfulness" in plausibility
    assert "### Plausibility" not in render(board)["planted.md"]


def test_known_truth_leads_on_planted_tasks(board: Board) -> None:
    header = next(line for line in render(board)["planted.md"].splitlines() if line.startswith("| method"))
    assert header.index("precision@k") < header.index("comprehensiveness") < header.index("sufficiency")


def test_the_interval_of_random_is_held_against_its_expectation() -> None:
    made = Records([model(seed=0), model(seed=1)])
    for mean, verdict in ((0.1, "contains it"), (0.3, "**does not contain** it")):
        made.explanations.clear()
        made.lines.clear()
        made.add("random", {"precision@k": noisy(mean, spread=0.05)})
        assert verdict in render(made.board())["toy.md"]


def test_the_order_is_by_rank_then_by_value_in_the_better_direction() -> None:
    for gate_passed in (True, False):  # without ranks the values alone decide
        made = Records([model(seed=0, gate_passed=gate_passed), model(seed=1)])
        for method, mean in (("worst", 0.9), ("best", 0.1), ("middle", 0.5)):
            made.add(method, {"sufficiency": noisy(mean)})
        shown = console_table(made.board())
        assert shown.index("best") < shown.index("middle") < shown.index("worst")


@pytest.mark.parametrize("method", ["attention", "zeta"])
def test_differences_to_random_are_the_methods_less_randoms_whatever_comes_first_by_name(method: str) -> None:
    made = Records([model(seed=0), model(seed=1)])
    made.add(method, {"comprehensiveness": noisy(0.9, salt=1)})
    made.add("random", {"comprehensiveness": noisy(0.1)})
    line = next(line for line in render(made.board())["toy.md"].splitlines() if "40 / 0 / 0" in line)
    assert f"`{method}`" in line
    assert "| 0.7" in line


def test_a_failure_keeps_its_reason_in_one_harmless_line(board: Board) -> None:
    assert "scores are not finite \\| at token 3 &lt;of> example e1" in render(board)["planted.md"]


@pytest.mark.parametrize("width", [60, 90, 120, 150])
def test_the_terminal_table_fits_where_it_can(board: Board, width: int) -> None:
    planted = replace(board, tables=[table for table in board.tables if table.task == "planted"])
    lines = console_table(planted, width).splitlines()
    table = [line for line in lines if not line.startswith("not ranked")]
    narrowest = max(map(len, console_table(planted, 1).splitlines()[:8]))
    assert max(map(len, table)) <= max(width, narrowest)
    assert "examples/s" in console_table(planted, 150)


def test_the_readme_block_links_to_the_pages(board: Board) -> None:
    assert "[planted](leaderboards/quick/planted.md)" in readme_block(board)
