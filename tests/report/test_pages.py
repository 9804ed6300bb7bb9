"""What a page says, against golden files and one promise at a time."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from faithboard.report import console_table, readme_block, render
from faithboard.stats import Board
from tests.boards import Records, model, noisy, two_seeds
from tests.report.example import example_board, golden_texts


@pytest.fixture(scope="module")
def board() -> Board:
    return example_board()


def test_pages_equal_the_golden_files() -> None:
    for path, text in golden_texts().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} changed: see tests/report/example.py"


def test_no_speed_is_shown_of_a_method_that_takes_no_step() -> None:
    table = example_board()
    costs = [replace(one, forward_steps=0.0) if one.method == "random" else one for one in table.costs]
    page = render(replace(table, costs=tuple(costs)))["planted.md"].split("### Cost")[1]
    cells = [
        re.split(r" *\| *", line) for line in page.splitlines() if line.startswith(("| `random`", "| `attention` "))
    ]
    assert {cells[0][1]: cells[0][4:7], cells[1][1]: cells[1][4:7]} == {
        "`attention`": ["84.5", "960", "4.0%"],
        "`random`": ["-", "-", "-"],
    }


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


@pytest.mark.parametrize("of_seed", [0.0, -0.1])
def test_a_large_difference_that_not_every_seed_has_is_no_plain_tie(of_seed: float) -> None:
    base = noisy(0.1, spread=0.01)
    made = two_seeds(better=base + 0.5, held=base + np.array([[0.4], [of_seed]]), level=base, random=base)
    pages = render(made.board())
    row = next(line for line in pages["toy.md"].splitlines() if "`held`" in line and "/" in line)
    assert row.split("|")[-2].strip() == "p <= 0.05, but not in every seed"
    assert next(line for line in pages["toy.md"].splitlines() if "`level`" in line and "/" in line).endswith(
        "| not told apart                   |"
    )
    assert "not in every seed, which no rank tells apart: comprehensiveness 2." in pages["toy.md"]


def test_who_shares_rank_1_only_because_of_a_seed_stands_apart_in_the_index() -> None:
    base = noisy(0.5, spread=0.01)
    made = two_seeds(best=base, level=base, held=base - np.array([[0.3], [0.0]]))
    row = next(line for line in render(made.board())["README.md"].splitlines() if line.startswith("| [toy]"))
    assert "`best`, `level`; behind some of them (p <= 0.05, but not in every seed): `held`" in row
    made = two_seeds(best=base, level=base)
    assert "not in every seed)" not in render(made.board())["README.md"].split("## How to read")[0]


def test_the_index_names_the_first_of_many_that_share_rank_1() -> None:
    base = noisy(0.5, spread=0.01)
    many = {f"equal-{number}": base for number in range(7)}
    row = next(line for line in render(two_seeds(**many).board())["README.md"].splitlines() if "[toy]" in line)
    assert "7 of 7: `equal-0`, `equal-1`, `equal-2`, `equal-3`, `equal-4` and 2 more" in row
    few = {name: many[name] for name in list(many)[:5]}
    row = next(line for line in render(two_seeds(**few).board())["README.md"].splitlines() if "[toy]" in line)
    assert "| `equal-0`, `equal-1`, `equal-2`, `equal-3`, `equal-4` " in row


def test_over_tasks_the_first_metrics_stand_open_and_the_others_are_folded(board: Board) -> None:
    added = [
        replace(one, metric="removal-accuracy-auc") for one in board.standings if one.metric == "comprehensiveness"
    ]
    page = render(replace(board, standings=[*board.standings, *added]))["README.md"].split("## Over tasks")[1]
    opened, folded = page.split("<details>", 1)
    assert "### comprehensiveness: bilstm-additive" in opened
    assert "removal-accuracy-auc" not in opened
    assert "<summary>removal-accuracy-auc: bilstm-additive" in folded


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
    first, second = [line for line in render(board)["planted.md"].splitlines() if line.startswith("| method")][:2]
    assert "precision@k" in first
    assert second.index("comprehensiveness") < second.index("sufficiency")


def test_a_wide_interval_of_random_is_held_against_its_expectation() -> None:
    made = Records([model(seed=0), model(seed=1)])
    # Of 40 examples of mean m and sd 0.05 the 95 % interval is m ± 0.016, the 99.9 % one m ± 0.027: 0.1 is expected.
    column = np.tile([0.05, -0.05], (2, 20))
    for mean, verdict in ((0.1, "contains it"), (0.12, "contains it"), (0.08, "contains it"), (0.13, "**does not")):
        made.explanations.clear()
        made.lines.clear()
        made.add("random", {"precision@k": mean + column})
        board = made.board()
        page = render(board)["toy.md"]
        assert verdict in page
        assert page.count("is the 95 % one, widened about the value by 1.68") == 1
        low, high = board.standings[0].low, board.standings[0].high
        assert low is not None
        assert high is not None
        assert (low <= 0.1 <= high) == (mean == 0.1)


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


def planted(board: Board) -> Board:
    return replace(board, tables=[table for table in board.tables if table.task == "planted"])


def test_three_metrics_with_ranks_and_intervals_fit_into_the_usual_terminal() -> None:
    made = Records([model(seed=seed, known_truth={"verified": 1.0}) for seed in (0, 1)])
    for at in range(10):
        name = f"method-{at}" if at else "gradient-x-input-fixed-attention"  # the longest built-in name
        means = {"precision@k": 0.9 - 0.08 * at, "comprehensiveness": 0.9 - 0.08 * at, "sufficiency": 0.08 * at}
        made.add(name, {metric: noisy(mean, salt=at, spread=0.01) for metric, mean in means.items()})
    lines = console_table(made.board()).splitlines()
    assert max(map(len, lines)) <= 120
    assert "not shown in 120 columns: examples/s" in lines
    best, worst = (next(line for line in lines if line.startswith(m)) for m in ("gradient-x", "method-9"))
    assert len(re.findall(r"  1   -?\d\.\d{3} \[", best)) == 3
    assert len(re.findall(r"  10  \d\.\d{3} \[", worst)) == 3


@pytest.mark.parametrize(
    ("width", "left_out"),
    [
        (120, ""),
        (107, "examples/s"),
        (90, "intervals of sufficiency; examples/s"),
        (82, "intervals of comprehensiveness, sufficiency; examples/s"),
        (65, "sufficiency; intervals of comprehensiveness; examples/s"),
        (45, "comprehensiveness, sufficiency; examples/s"),
        (40, "comprehensiveness, sufficiency; intervals of precision@k; examples/s"),
    ],
)
def test_what_does_not_fit_is_left_out_the_least_important_first_and_named(
    board: Board, width: int, left_out: str
) -> None:
    lines = console_table(planted(board), width).splitlines()
    said = [line for line in lines if line.startswith("not shown")]
    assert said == ([f"not shown in {width} columns: {left_out}"] if left_out else [])
    assert max(len(line) for line in lines[1:9]) <= width


def test_a_terminal_too_narrow_for_anything_gets_the_leading_metric(board: Board) -> None:
    assert "leave-one-out     1   0.892" in console_table(planted(board), 1)


def test_a_probe_that_lacks_seeds_says_which_it_has() -> None:
    made = Records([model(seed=0), model(seed=1)])
    made.add("", {"tau-attention-loo": noisy(0.3, seeds=1)})
    assert "- tau-attention-loo: results of seed 0 only." in render(made.board())["toy.md"]


def test_two_versions_of_a_task_are_told_apart() -> None:
    made = Records([model(seed=0), model(seed=0, key="newer", task_version=2)], seeds=[0])
    made.add("random", {"comprehensiveness": noisy(0.1)})
    board = made.board()
    page = render(board)["toy.md"]
    assert "Data: toy, version 1," in page
    assert "Data: toy, version 2," in page
    assert "## bilstm-additive, standard training on version 2 generated data `01234567`" in page
    for text in (render(board)["README.md"], render(board)["models.md"], console_table(board)):
        assert "toy v1" in text
        assert "toy v2" in text


def costs(board: Board, task: str) -> dict[str, list[str]]:
    """Line of the table of costs (headers under `method`) -> cells."""
    text = render(board)[f"{task}.md"].split("### Cost")[1].split("###")[0]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    return {line[0]: line[1:] for line in cells}


def test_costs_of_every_method_stand_in_a_table_of_their_own(board: Board) -> None:
    page = render(board)["planted.md"]
    assert page.count("examples/s") == 1
    assert "Timed on cpu, float32, torch 2.13.0, 1 thread:" in page
    assert costs(board, "planted") == {
        "method": [
            *("forward steps", "backward steps", "examples/s", "tokens/s", "spread", "peak memory (MB)", "batch size")
        ],
        "`leave-one-out`": ["12", "0", "80.5", "960", "4.0%", "-", "32"],
        "`gradient-x-input`": ["12", "12", "82.5", "960", "4.0%", "-", "32"],
        "`attention`": ["12", "0", "84.5", "960", "4.0%", "-", "32"],
        "`random`": ["12", "0", "86.5", "960", "4.0%", "-", "32"],
        "`attention-norm`": ["-"] * 7,
        "`lime`": ["-"] * 7,
    }
    assert "- No speed: `attention-norm`, `lime`: not timed." in page


def test_a_method_timed_elsewhere_shows_no_speed_beside_the_others(board: Board) -> None:
    page = render(board)["movies.md"]
    assert "Timed on NVIDIA H200, float32, torch 2.13.0, 1 thread:" in page
    assert "- No speed: `attention`: timed in another setting: cpu, float32, torch 2.13.0, 1 thread." in page
    found = costs(board, "movies")
    assert found["method"][-3:] == ["peak memory (MB)", "batch size", "J/example"]
    assert found["`random`"][-3:] == ["12.5", "32", "0.20"]
    assert found["`attention`"] == ["12", "0", *["-"] * 6]


def test_where_nothing_was_timed_only_steps_are_shown() -> None:
    made = Records([model(seed=0), model(seed=1)])
    made.add("random", {"comprehensiveness": noisy(0.1)})
    page = render(made.board())["toy.md"]
    assert "Nothing was timed" in page
    assert "No speed" not in page


def test_the_readme_block_links_to_the_pages(board: Board) -> None:
    assert "[planted](leaderboards/quick-v1/planted.md)" in readme_block(board)
