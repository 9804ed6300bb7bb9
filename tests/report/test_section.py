"""How the metrics of a page are divided into tables, what is folded, and what is explained beside each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from faithboard.report import layout
from faithboard.report.section import section
from faithboard.report.unrun import not_run
from faithboard.stats import Board
from tests.boards import Records, model, noisy
from tests.report.example import checked

ERASURE = (
    *("comprehensiveness", "comprehensiveness-unk", "comprehensiveness-paper", "sufficiency", "sufficiency-zero"),
    *("naopc-sufficiency", "decision-flip-top1", "a-metric-of-ones-own"),
)


def board(truth: Mapping[str, float], task: str = "planted") -> Board:
    made = Records([model(task, seed, known_truth=dict(truth)) for seed in (0, 1)])
    for method, mean in (("leave-one-out", 0.9), ("random", 0.1)):
        made.add(method, {metric: noisy(mean) for metric in ERASURE}, of=task, row={"better": "higher"})
        made.add(f"{method}-2", {"precision@k": noisy(mean)}, of=task)
        made.add(f"{method}-3", {"roar": noisy(mean)}, of=task, row={"kind": "retraining", "better": "lower"})
    return made.board()


PLANTED = {"verified": 1.0, "accuracy": 1.0, "accuracy-without": 0.5, "flip-rate": 1.0}


def divided(made: Board) -> dict[str, tuple[str, ...]]:
    return {part.title: grid.metrics for part, grid in layout.parts(made, made.tables[0])}


def test_every_metric_of_faithfulness_stands_in_one_table_the_leading_one_first() -> None:
    made = board(PLANTED)
    found = divided(made)
    assert list(found.values()) == [
        ("precision@k",),
        ("comprehensiveness", "sufficiency"),
        ("comprehensiveness-paper", "comprehensiveness-unk"),
        ("sufficiency-zero",),
        ("roar",),
        ("a-metric-of-ones-own", "decision-flip-top1", "naopc-sufficiency"),
    ]
    assert sorted(sum(found.values(), ())) == sorted(layout.faithfulness(made, made.tables[0]).metrics)
    # Without known truth the marked tokens are plausibility, and no part of it.
    assert "Known truth" not in divided(board({}))


def test_operators_profiles_and_the_spread_must_be_opened() -> None:
    made = board(PLANTED)
    page = section(made, made.tables[0])
    folded = "".join(re.findall(r"<details>.*?</details>", page, re.DOTALL))
    opened = re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL)
    for header in ("| comprehensiveness-unk ↑", "| sufficiency-zero ↑", "comprehensiveness-paper ↑"):
        assert header in folded
        assert header not in opened
    assert "<summary>Standard deviation of the mean over seeds" in folded
    assert opened.index("#### Known truth") < opened.index("| comprehensiveness ↑") < opened.index("#### After retr")


def test_only_metrics_that_have_a_row_are_explained() -> None:
    made = board(PLANTED)
    page = section(made, made.tables[0])
    for there in ("- `precision@k`: ", "- `-unk`: ", "- `-paper`: ", "- `roar`: ", "What is removed can itself tell"):
        assert there in page
    assert "- `a-metric-of-ones-own`" not in page
    for absent in ("mean-rank", "`-previous`", "recursive-roar", "completeness", "max-sensitivity", "iou-f1"):
        assert absent not in page
    few = replace(made, standings=[one for one in made.standings if one.metric == "comprehensiveness"])
    assert "itself tell the class" not in section(few, few.tables[0])


def test_of_a_built_in_suite_it_says_what_was_not_run() -> None:
    made = board(PLANTED)
    table = made.tables[0]
    assert not_run(made, table) == "Not run here: `attention-agreement`."
    assert not_run(made, table) in section(made, table)
    fewer = replace(made, standings=[one for one in made.standings if one.metric != "sufficiency"])
    assert not_run(fewer, table) == "Not run here: `sufficiency`, `attention-agreement`."


@pytest.mark.parametrize("other", [{"suite_version": 2}, {"suite": "mine"}, {"task": "toy"}])
def test_what_another_suite_asks_for_is_not_known(other: dict[str, str]) -> None:
    made = board(PLANTED)
    assert not_run(made, replace(made.tables[0], **other)) == ""  # type: ignore[arg-type]


def test_probes_and_checks_are_run_and_marks_that_a_task_lacks_are_not_missed() -> None:
    made = Records([model("sst", seed) for seed in (0, 1)])
    made.add("", {"tau-attention-loo": noisy(0.3)}, of="sst")
    found = made.board()
    check = replace(checked("attention", "parameter-randomisation", 0.1), table=found.tables[0].key)
    assert "parameter-randomisation" in not_run(found, replace(found.tables[0], suite="standard"))
    found = replace(found, sanity=[check])
    table = replace(found.tables[0], suite="standard")
    said = not_run(found, table)
    assert "`comprehensiveness`" in said
    for absent in (
        "attention-agreement",
        "parameter-randomisation",
        "precision@k",
        "auprc",
    ):  # the treebank has no marked tokens
        assert absent not in said
    planted = replace(table, task="planted")
    assert "`precision@k`" in not_run(found, planted)
    assert "`auprc`" not in not_run(found, planted)  # it is about what people mark
