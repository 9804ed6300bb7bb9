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
    monkeypatch.setattr("faithboard.planning.explanations.capabilities", lambda config, task: frozenset({"attention"}))
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
        ({"models": ["average-none"]}, "average-none.*no summary of its own.*average-uniform"),
        ({"settings": {"precision": "float16"}}, "precision must be one of float32, bfloat16"),
        ({"settings": {"init": "standrad"}}, "unknown training 'standrad' in init; did you mean standard"),
        ({"methods": ["attention-saliency-guided"], "settings": {"mask_share": 1.0}}, "mask_share must lie between"),
        ({"methods": ["attention-saliency-guided"], "settings": {"mask_fill": "none"}}, "mask_fill must be one of"),
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


def of_training(plan: Plan) -> dict[str, set[str]]:
    """training -> what is explained of its models."""
    return {job.training.procedure: {one.name for one in job.explanations} for job in plan.jobs}


def test_a_method_brings_the_training_it_asks_for_and_reference_rows_stand_beside_it(tmp_path: Path) -> None:
    methods = ["random", "attention", "attention-saliency-guided"]
    plan = tiny.planned(suites.changed(tiny.SUITE, methods=methods), tiny.place(tmp_path))
    assert of_training(plan) == {
        "standard": {"random", "attention"},
        "saliency-guided": {"random", "attention-saliency-guided"},
    }
    both = dataclasses.replace(suites.changed(tiny.SUITE, methods=methods), trainings=("random-masking",))
    assert of_training(tiny.planned(both, tiny.place(tmp_path))) == {
        "random-masking": {"random", "attention"},
        "saliency-guided": {"random", "attention-saliency-guided"},
    }


def test_a_method_brings_the_training_of_its_own_file(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "from faithboard import Training, variant\n"
        "OWN = Training('own', lambda supervised, config, vocabulary: None, source='a test')\n"
        "attention = variant('attention', training='own')\n"
    )
    plan = tiny.planned(suites.changed(tiny.SUITE, methods=[f"{file}:attention"]), tiny.place(tmp_path))
    assert of_training(plan) == {"standard": set(), "own": {"attention-own"}}
    (job,) = (job for job in plan.jobs if job.training.procedure == "own")
    assert job.procedure.source == "a test"


def test_models_without_attention_do_without_what_needs_it(tmp_path: Path) -> None:
    chosen = suites.changed(
        tiny.SUITE,
        models=["bilstm-none"],
        methods=["attention", "gradient-l2", "leave-one-out"],
        metrics=["comprehensiveness", "attention-agreement"],
    )
    plan = tiny.planned(chosen, tiny.place(tmp_path))
    assert explained(plan) == {
        "attention": "unsupported",
        "gradient-l2": "run",
        "leave-one-out": "run",
        "probes": "unsupported",
    }
    reason = next(one.reason for one in plan.jobs[0].explanations if one.name == "attention")
    assert reason == "needs attention, which bilstm-none has not on this task"


def test_masking_settings_change_no_key_but_that_of_the_trainings_that_read_them(tmp_path: Path) -> None:
    methods = ["attention", "attention-saliency-guided"]
    one, other = (
        tiny.planned(suites.changed(tiny.SUITE, methods=methods, settings={"mask_share": share}), tiny.place(tmp_path))
        for share in (0.2, 0.3)
    )
    assert one.jobs[0].key == other.jobs[0].key
    assert one.jobs[1].key != other.jobs[1].key


@pytest.mark.parametrize(
    ("setting", "value"), [("epochs", "abc"), ("amsgrad", "no"), ("learning_rate", "fast"), ("epochs", True)]
)
def test_a_setting_of_another_type_is_refused(tmp_path: Path, setting: str, value: object) -> None:
    with pytest.raises(SuiteError, match=f"setting {setting} .* must be"):
        tiny.planned(suites.changed(tiny.SUITE, settings={setting: value}), tiny.place(tmp_path))


def test_a_training_of_several_passes_costs_as_much_more(tmp_path: Path) -> None:
    place = tiny.place(tmp_path)
    steps = {
        training: tiny.planned(suites.changed(tiny.SUITE, trainings=[training]), place).jobs[0].train_steps
        for training in ("standard", "random-masking", "saliency-guided")
    }
    standard = steps["standard"]
    assert standard is not None
    assert steps["random-masking"] == 2 * standard
    assert steps["saliency-guided"] == 3 * standard


def test_scoring_and_probes_have_their_cost(tmp_path: Path) -> None:
    chosen = suites.changed(tiny.SUITE, metrics=["comprehensiveness", "sufficiency", "attention-agreement"])
    plan = tiny.planned(chosen, tiny.place(tmp_path))
    lengths = plan.jobs[0].prepared.lengths
    by_name = {one.name: one for one in plan.jobs[0].explanations}
    assert by_name["gradient-l2"].scoring == 10 * sum(lengths)
    assert by_name["random"].scoring == 10 * 10 * sum(lengths)
    probes = by_name["probes"]
    assert (probes.forward, probes.backward) == (sum(t * t + t for t in lengths), sum(lengths))
    assert f"{sum(t * t + 2 * t for t in lengths):,}" in table(plan)


def test_a_suite_without_methods_asks_probes_alone(tmp_path: Path) -> None:
    place = tiny.place(tmp_path)
    probed = dataclasses.replace(tiny.SUITE, methods=(), metrics=("attention-agreement",))
    plan = tiny.planned(probed, place)
    assert explained(plan) == {"probes": "score"}
    assert "1 to probe" in summary(plan)
    with pytest.raises(SuiteError, match="tiny v1 has no methods, and comprehensiveness can only score one"):
        tiny.planned(dataclasses.replace(probed, metrics=("comprehensiveness", "permutation")), place)


def test_a_task_is_crossed_with_its_own_models_and_examples(tmp_path: Path) -> None:
    own = dataclasses.replace(tiny.SUITE, models_of={"tiny": ("cnn-additive",)}, examples_of={"tiny": 30})
    plan = tiny.planned(own, tiny.place(tmp_path))
    assert [job.model.name for job in plan.jobs] == ["bilstm-additive", "cnn-additive"]
    assert {len(job.prepared.examples) for job in plan.jobs} == {30}
