"""Curves of the methods with the band of a random order, and metrics beside the order, as pages show them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from faithboard.report import layout
from faithboard.report.curves import curves
from faithboard.report.section import section
from faithboard.stats.board import Board
from tests.boards import Records, model, noisy


def records(**row: Any) -> Records:
    made = Records([model(seed=0), model(seed=1)])
    own: dict[str, Any] = {"points": ["1%", "50%"], "curve": [0.25, 0.5], "curve_low": [0.2, 0.4]}
    own |= {"curve_high": [0.3, 0.6]} | row
    made.add("a", {"comprehensiveness": noisy(0.9)}, row=own)
    made.add("random", {"comprehensiveness": noisy(0.1, salt=2)}, row=own | {"curve": [0.1, 0.2]})
    return made


def shown(board: Board) -> list[list[str]]:
    lines = curves(layout.faithfulness(board, board.tables[0])).splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")] + [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| band")
    ]


def test_a_row_per_method_and_one_for_the_band() -> None:
    assert shown(records().board()) == [
        ["`a`", "0.250", "0.500"],
        ["`random`", "0.100", "0.200"],
        ["band of `random`", "0.200 to 0.300", "0.400 to 0.600"],
    ]


def test_without_curves_there_is_nothing_to_fold() -> None:
    board = records(points=[], curve=[], curve_low=[], curve_high=[]).board()
    assert curves(layout.faithfulness(board, board.tables[0])) == ""


def test_curves_from_before_there_was_a_band_are_shown_without() -> None:
    assert [row[0] for row in shown(records(curve_low=[], curve_high=[]).board())] == ["`a`", "`random`"]


def test_metrics_beside_the_order_have_a_grid_of_their_own_and_a_median_no_rank() -> None:
    made = records()
    gaps = np.tile(np.array([0.0, 0.0, 0.0, 1.0, 9.0]), (2, 8))
    of_amounts = {"kind": "amounts", "statistic": "median", "better": "lower", "counts": {"over 50 tokens": 7}}
    made.explanations, kept = [], made.explanations
    made.add("a", {"completeness": gaps}, row=of_amounts)
    for explanation, extra in zip([e for e in kept if e.method == "a"], made.explanations, strict=True):
        explanation.rows.extend(extra.rows)
    made.explanations = kept
    board = made.board()
    (found,) = (one for one in board.standings if one.metric == "completeness" and one.method == "a")
    assert (found.value, found.rank, found.statistic) == (0.0, None, "median")
    assert found.low == 0.0
    assert found.high is not None
    assert found.high <= 1.0
    page = section(board, board.tables[0])
    assert "### Scores as amounts, and under noise" in page
    assert "completeness: over 50 tokens: 7 examples." in page
    assert "completeness" not in layout.faithfulness(board, board.tables[0]).metrics


def test_a_median_is_shown_with_its_tail_however_small_and_has_no_column_of_ranks() -> None:
    made = records()
    tail: dict[str, Any] = {"points": ["median", "95th percentile"], "curve": [3.1e-8, 1.6e-7]}
    of_amounts: dict[str, Any] = {"kind": "amounts", "statistic": "median", "better": "lower"}
    made.add("deeplift", {"completeness": np.full((2, 40), 4.36e-8)}, row=of_amounts | tail)
    made.add("exact", {"completeness": np.zeros((2, 40))}, row=of_amounts)
    made.add("other", {"infidelity": noisy(0.2)}, row={"kind": "amounts", "better": "lower"})
    board = made.board()
    page = section(board, board.tables[0]).split("### Scores as amounts")[1].split("\n### ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| ")]
    # The metric that ranks leads.
    assert rows[0] == ["method", "infidelity ↓", "rank", "completeness ↓", "steps per example"]
    assert rows[1][0] == "`other`"
    shown = {row[0]: row[3] for row in rows[1:]}
    assert (shown["`deeplift`"], shown["`exact`"]) == ("4.4e-08 (95th: 1.6e-07)", "0")


def test_who_promises_nothing_has_no_row_in_the_table() -> None:
    made = records()
    gone = {"kind": "amounts", "status": "unsupported", "reason": "not promised", "better": "lower"}
    made.add("b", {"completeness": np.empty((2, 0))}, row=gone)
    made.add("c", {"completeness": noisy(0.2)}, row={"kind": "amounts", "statistic": "median", "better": "lower"})
    found = {one.method for one in made.board().standings if one.metric == "completeness" and one.status != "ok"}
    assert "b" not in found


def test_medians_are_resampled() -> None:
    from faithboard.stats import bootstrap_medians, interval

    values = np.random.default_rng(0).exponential(size=(101, 2))
    values[:, 1] *= 10
    low, high = interval(bootstrap_medians(values, resamples=2_000))
    middle = np.median(values, axis=0)
    assert bool((low < middle).all())
    assert bool((middle < high).all())
    # Shared resamples: a column ten times the size of another has ten times its interval.
    again = bootstrap_medians(np.stack([values[:, 0], 10 * values[:, 0]], 1), resamples=50)
    assert again[:, 1] == pytest.approx(10 * again[:, 0])
    assert np.isnan(bootstrap_medians(np.empty((0, 3)), resamples=5)).all()
