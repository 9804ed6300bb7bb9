"""What a report is made of, and what it says of what could not be had."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import faithboard.reproduction.attention as package
from faithboard import suites
from faithboard.plan import Plan
from faithboard.records import Explanation, ModelRecord, Row
from faithboard.reproduction.stored import failures, made_of, reasons
from faithboard.results import Results
from faithboard.store import Store
from tests import tiny
from tests.boards import model, two_seeds

CODE = Path(str(package.__file__)).parent


def results(models: list[ModelRecord], explanations: list[Explanation]) -> Results:
    nothing = two_seeds().values
    return Results("tiny", 1, (0, 1), tuple(models), tuple(explanations), nothing, nothing, ())


def explanation(of: ModelRecord, method: str, **changes: object) -> Explanation:
    one = Explanation(f"{method}-{of.key}", of.key, of.task, of.model, of.training, of.seed, "w", method)
    return replace(one, **changes)  # type: ignore[arg-type]


def test_what_failed_is_said_once_for_all_seeds() -> None:
    broken = {"training": "saliency-guided", "status": "failed", "reason": "the loss is nan"}
    models = [
        *(model(seed=seed) for seed in (0, 1)),
        *(model(seed=seed, key=f"guided-{seed}", **broken) for seed in (2, 1)),
    ]
    refused = [explanation(one, "smoothgrad", status="skipped", reason="over the budget") for one in models[:2]]
    probes = explanation(models[0], "", status="unsupported", reason="probes need attention")
    assert list(failures(results(models, [*refused, probes, explanation(models[0], "random")]))) == [
        "toy, bilstm-additive, saliency-guided: training failed: the loss is nan (seed 1, 2)",
        "toy, bilstm-additive, smoothgrad: skipped: over the budget (seed 0, 1)",
        "toy, bilstm-additive: unsupported: probes need attention (seed 0)",
    ]


def test_a_plan_with_nothing_to_say_was_cut_short() -> None:
    assert reasons(Plan(tiny.SUITE, (), (), ())) == "the run was cut short"


def test_the_hash_follows_models_rows_seeds_and_code(tmp_path: Path) -> None:
    store = Store(tmp_path / "results")
    plan = Plan(tiny.SUITE, (), (), ())
    trained = model(task="tiny")
    store.save_model(trained, None)
    row = Row("row", "comprehensiveness", 1, {}, "higher")
    scored = explanation(trained, "random", rows=[row])
    store.save_explanation(scored)
    store.add_to_suite(tiny.SUITE, ["comprehensiveness"], trained.key, [scored.key])

    before = made_of(plan, store, CODE)
    assert made_of(plan, store, CODE) == before
    assert made_of(replace(plan, suite=suites.changed(tiny.SUITE, seeds=[3])), store, CODE) != before
    assert made_of(plan, store, CODE.parent / "nothing") != before

    store.save_explanation(replace(scored, rows=[replace(row, key="scored again")]))
    again = made_of(plan, store, CODE)
    assert again != before
    store.save_model(replace(trained, weights_sha256="others"), None)
    assert made_of(plan, store, CODE) not in (before, again)
