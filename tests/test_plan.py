from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from faithboard import suites
from faithboard.cli.planned import summary, table
from faithboard.errors import SuiteError
from faithboard.plan import Plan
from tests import tiny


def explained(plan: Plan) -> dict[str, str]:
    return {one.name: one.state for one in plan.jobs[0].explanations}


def test_an_empty_store_means_everything_is_to_be_done(tmp_path: Path) -> None:
    plan = tiny.planned(tiny.SUITE, tiny.place(tmp_path))
    assert plan.jobs[0].state == "train"
    assert explained(plan) == {"random": "run", "gradient-l2": "run"}
    assert "1 of 1 models to train, 2 explanations to compute" in summary(plan)


def test_planning_writes_no_result(tmp_path: Path) -> None:
    tiny.planned(tiny.SUITE, tiny.place(tmp_path))
    assert not list(tmp_path.glob("models/*"))
    assert not list(tmp_path.glob("explanations/*"))


def test_each_part_has_its_cost_in_token_steps(tmp_path: Path) -> None:
    plan = tiny.planned(suites.changed(tiny.SUITE, methods=["leave-one-out", "gradient-l2"]), tiny.place(tmp_path))
    lengths = plan.jobs[0].prepared.lengths
    assert len(lengths) == 100
    cost = {one.name: (one.forward, one.backward) for one in plan.jobs[0].explanations}
    assert cost["gradient-l2"] == (sum(lengths), sum(lengths))
    assert cost["leave-one-out"] == (sum(t * t for t in lengths), 0)
    train = plan.jobs[0].prepared.data.splits["train"]
    assert plan.jobs[0].train_steps == 2 * 4 * sum(len(example.tokens) for example in train)
    assert f"{sum(t * t for t in lengths):,}" in table(plan)


def test_a_cost_over_the_budget_is_refused_unless_told(tmp_path: Path) -> None:
    poor = dataclasses.replace(tiny.SUITE, budget=10)
    place = tiny.place(tmp_path)
    assert explained(tiny.planned(poor, place)) == {"random": "run", "gradient-l2": "skipped"}
    from faithboard.running.progress import Progress
    from faithboard.session import plan_suite

    assert plan_suite(poor, place, Progress(), over_budget=True).count("run") == 2


def test_what_a_model_cannot_do_is_unsupported_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faithboard.plan.capabilities", lambda config: frozenset({"attention"}))
    plan = tiny.planned(
        suites.changed(tiny.SUITE, metrics=["comprehensiveness", "attention-agreement"]), tiny.place(tmp_path)
    )
    states = explained(plan)
    assert states == {"random": "run", "gradient-l2": "unsupported", "probes": "unsupported"}
    reason = next(one.reason for one in plan.jobs[0].explanations if one.name == "gradient-l2")
    assert "needs gradients" in reason


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": ["bilsm-additive"]}, "unknown encoder 'bilsm'.*bilstm"),
        ({"models": ["bilstm-addtive"]}, "unknown attention.*additive"),
        ({"settings": {"epoch": 3}}, "unknown setting 'epoch'.*epochs"),
        ({"settings": {"epochs": 0}}, "epochs must be at least 1"),
    ],
)
def test_nonsense_is_refused_before_anything_is_trained(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    with pytest.raises(SuiteError, match=message):
        tiny.planned(suites.changed(tiny.SUITE, **change), tiny.place(tmp_path))  # type: ignore[arg-type]


def test_metrics_that_need_marked_tokens_are_left_out_aloud(tmp_path: Path) -> None:
    task = tmp_path / "unmarked.py"
    task.write_text(
        "import dataclasses\nfrom tests import tiny\n"
        "UNMARKED = dataclasses.replace(tiny.TINY, name='unmarked', rationale=None, planted={})\n"
    )
    plan = tiny.planned(suites.changed(tiny.SUITE, tasks=[f"{task}:UNMARKED"]), tiny.place(tmp_path / "results"))
    assert plan.inapplicable == ("precision@k needs marked tokens, and unmarked has none",)
    assert [metric.name for metric in plan.jobs[0].explanations[0].metrics] == ["comprehensiveness"]
