from __future__ import annotations

import dataclasses
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from faithboard import suites
from faithboard.errors import SuiteError
from faithboard.records import Explanation, ModelRecord
from faithboard.results import board_of, results_of
from faithboard.running import run
from faithboard.running.progress import Progress
from faithboard.running.weights import weights_sha256
from faithboard.session import Place
from tests import tiny
from tests.own_model import DEFINITION

FRAGILE = """
import os, signal
from pathlib import Path
from faithboard import TOKEN, method

@method("fragile", kind="sensitivity", signed=False, source="a test", stochastic=True)
def fragile(model, batch, rng):
    calls = Path({calls!r})
    with calls.open("a") as log:
        log.write("|".join(batch.example_id) + "\\n")
    asked = set(calls.read_text().replace("\\n", "|").strip("|").split("|"))
    killed = calls.with_suffix(".killed")
    if {kill} and len(asked) > 64 and not killed.exists():
        killed.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return rng.uniform(TOKEN)
"""


KILLED_SUITE = """
name = "killed"
version = 1
tasks = ["{task}"]
models = ["bilstm-additive"]
methods = ["random", "{method}"]
metrics = ["comprehensiveness"]
seeds = [0]
examples = 100
budget = 1000000
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A results folder with the tiny suite run into it. Tests only read it, or copy it."""
    place = tiny.place(tmp_path_factory.mktemp("finished"))
    outcome = tiny.carried_out(tiny.SUITE, place)
    assert (outcome.trained, outcome.explained, outcome.stored, outcome.failures) == (1, 2, 0, [])
    return place


@pytest.fixture
def place(finished: Place, tmp_path: Path) -> Place:
    """A copy of the finished results."""
    subprocess.run(["cp", "-r", finished.store.root, tmp_path / "results"], check=True)
    return tiny.place(tmp_path / "results")


def by_method(place: Place) -> dict[str, Explanation]:
    return {record.method: record for record in place.store.explanations()}


def test_a_second_run_computes_nothing(place: Place) -> None:
    before = place.store.explanations()
    outcome = tiny.carried_out(tiny.SUITE, place)
    assert (outcome.trained, outcome.explained, outcome.scored, outcome.timed, outcome.stored) == (0, 0, 0, 0, 2)
    assert place.store.explanations() == before


def test_rows_hold_values_counts_and_cost(finished: Place) -> None:
    found = by_method(finished)
    rows = {row.metric: row for row in found["gradient-l2"].rows}
    assert set(rows) == {"comprehensiveness", "precision@k"}
    row = rows["comprehensiveness"]
    assert row.value is not None
    assert row.low is not None
    assert row.high is not None
    assert row.low < row.value < row.high
    assert row.n + row.excluded == 100
    assert row.points == ["1%", "5%", "10%", "20%", "50%"]
    assert row.value == pytest.approx(sum(row.curve) / 5)
    assert found["gradient-l2"].backward_steps == found["gradient-l2"].forward_steps
    assert found["random"].forward_steps == 0
    assert found["random"].draws == 10
    values = finished.store.values(found["gradient-l2"].key)
    assert values[values["metric"] == "comprehensiveness"]["value"].mean() == pytest.approx(row.value)


def test_the_known_truth_is_found_and_chance_is_chance(finished: Place) -> None:
    board = board_of(results_of(finished.store, "tiny-v1"))
    standing = {(s.method, s.metric): s for s in board.standings}
    guess = standing["random", "precision@k"]
    assert guess.low is not None
    assert guess.high is not None
    assert guess.expectation is not None
    assert guess.low <= guess.expectation <= guess.high
    best = standing["gradient-l2", "precision@k"]
    assert best.value is not None
    assert best.value > 0.8
    assert (best.rank, guess.rank) == (1, 2)


def test_a_new_metric_explains_nothing_again(place: Place) -> None:
    wider = suites.changed(tiny.SUITE, metrics=[*tiny.SUITE.metrics, "sufficiency"])
    scores = {key: place.store.scores(key) for key in (one.key for one in place.store.explanations())}
    outcome = tiny.carried_out(wider, place)
    assert (outcome.trained, outcome.explained, outcome.scored) == (0, 0, 2)
    for key, before in scores.items():
        pd.testing.assert_frame_equal(place.store.scores(key), before)
    assert {row.metric for row in by_method(place)["random"].rows} == {*tiny.SUITE.metrics, "sufficiency"}


def test_a_changed_file_recomputes_its_own_methods_alone(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(FRAGILE.format(calls=str(tmp_path / "calls"), kill=False))
    wider = suites.changed(tiny.SUITE, methods=[*tiny.SUITE.methods, f"{file}:fragile"])
    assert tiny.carried_out(wider, place).explained == 1
    file.write_text(file.read_text() + "# one more line\n")
    outcome = tiny.carried_out(wider, place)
    assert (outcome.trained, outcome.explained, outcome.stored) == (0, 1, 2)


def test_probes_are_rows_of_the_model(place: Place) -> None:
    probing = suites.changed(tiny.SUITE, metrics=["attention-agreement"])
    outcome = tiny.carried_out(probing, place)
    assert (outcome.trained, outcome.explained, outcome.failures) == (0, 0, [])
    rows = {row.metric: row for row in by_method(place)[""].rows}
    value = rows["tau-gradient-loo"].value
    assert value is not None
    assert -1 <= value <= 1
    assert tiny.carried_out(probing, place).scored == 0


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        ("wrong_shape", r"scores must be a tensor \[batch, token\]"),
        ("not_finite", "scores are not finite"),
        ("raises", "KeyError: 'no such key'"),
        ("changes_the_model", "changed the model"),
        ("changes_data", "changed the model"),
        ("draws_globally", "global random state"),
        ("draws_from_numpy", "numpy's global random state"),
        ("draws_from_random", "random's global random state"),
        ("leaves_a_hook", "changed the model"),
        ("changes_a_buffer", "changed the model"),
        ("too_large", "fit into float32"),
        ("exits", "SystemExit: 3"),
        ("negative", "declared unsigned"),
        ("trains", "training mode"),
    ],
)
def test_a_broken_method_fails_alone(place: Place, tmp_path: Path, method: str, reason: str) -> None:
    file = tmp_path / "broken.py"
    file.write_text(tiny.BROKEN)
    chosen = suites.changed(tiny.SUITE, methods=[f"{file}:{method}", "attention"])
    outcome = tiny.carried_out(chosen, place)
    assert outcome.explained == 1
    assert len(outcome.failures) == 1
    failed = by_method(place)[method.replace("_", "-")]
    assert failed.status == "failed"
    assert failed.rows == []
    assert re.search(reason, failed.reason)
    again = tiny.carried_out(chosen, place)
    assert (again.explained, again.stored, len(again.failures)) == (0, 1, 1)
    assert len(tiny.carried_out(chosen, place, retry_failed=True).failures) == 1


@pytest.fixture(scope="module")
def later(finished: Place, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The finished results and two methods more. Tests only read it."""
    folder = tmp_path_factory.mktemp("later") / "results"
    subprocess.run(["cp", "-r", finished.store.root, folder], check=True)
    place = tiny.place(folder)
    assert tiny.carried_out(suites.changed(tiny.SUITE, methods=LATER), place).failures == []
    return place


LATER = ["attention", "leave-one-out"]


@pytest.mark.parametrize("method", ["changes_the_model", "silences_the_model"])
def test_what_a_method_does_to_the_model_does_not_spoil_the_next(
    place: Place, later: Place, tmp_path: Path, method: str
) -> None:
    file = tmp_path / "broken.py"
    file.write_text(tiny.BROKEN)
    outcome = tiny.carried_out(suites.changed(tiny.SUITE, methods=[f"{file}:{method}", *LATER]), place)
    assert len(outcome.failures) == 1
    for name in LATER:
        found, expected = by_method(place)[name], by_method(later)[name]
        assert found.key == expected.key
        assert found.rows == expected.rows
        assert [row.value for row in found.rows if row.value is not None] != []
        pd.testing.assert_frame_equal(place.store.scores(found.key), later.store.scores(expected.key))


def own_model(folder: Path, content: str = DEFINITION) -> str:
    file = folder / "own.py"
    file.write_text(content)
    return f"{file}:bag_of_words"


def test_a_model_that_fails_while_it_is_scored_leaves_failed_rows(tmp_path: Path) -> None:
    broken = DEFINITION.replace(
        "        return Output(self.bias + states.sum(1))",
        "        if bool((batch.scorable_lengths == 6).any()):\n            raise ValueError('six words')\n"
        "        return Output(self.bias + states.sum(1))",
    )
    assert broken != DEFINITION
    place = tiny.place(tmp_path / "results")
    chosen = suites.changed(
        tiny.SUITE,
        models=[own_model(tmp_path, broken)],
        methods=["random", "gradient-l2"],
        metrics=["comprehensiveness"],
    )
    outcome = tiny.carried_out(chosen, place)
    assert [failure for failure in outcome.failures if "six words" in failure] == outcome.failures
    assert outcome.explained == 2
    for record in by_method(place).values():
        (row,) = record.rows
        assert (record.status, row.status, row.value) == ("ok", "failed", None)
        assert row.reason.startswith("its model failed: it raised")
        assert "six words" in row.reason
    again = tiny.carried_out(chosen, place)
    assert (again.explained, again.scored, again.stored) == (0, 0, 2)


def test_a_model_that_fails_before_anything_is_explained_leaves_failed_explanations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no luck")

    place = tiny.place(tmp_path / "results")
    chosen = suites.changed(tiny.SUITE, models=[own_model(tmp_path)])
    with monkeypatch.context() as patched:
        patched.setattr("faithboard.running.jobs.probabilities", fail)
        assert len(tiny.carried_out(chosen, place).failures) == 1
    assert set(by_method(place)) == {"random", "gradient-l2"}
    for record in by_method(place).values():
        assert (record.status, record.rows) == ("failed", [])
        assert "its model failed: it raised" in record.reason
        assert "no luck" in record.reason
    assert tiny.carried_out(chosen, place).explained == 0
    outcome = tiny.carried_out(chosen, place, retry_failed=True)
    assert (outcome.explained, outcome.failures) == (2, [])


def test_a_killed_run_goes_on_where_it_stopped_and_ends_the_same(tmp_path: Path) -> None:
    calls, file, toml = tmp_path / "calls", tmp_path / "fragile.py", tmp_path / "killed.toml"
    file.write_text(FRAGILE.format(calls=str(calls), kill=True))
    toml.write_text(KILLED_SUITE.format(task=f"{tiny.TASK_FILE}:TINY", method=f"{file}:fragile"))
    command = [sys.executable, "-m", "faithboard", "run", "--suite", str(toml), "--no-track"]
    command += ["--results", str(tmp_path / "results"), "--leaderboards", str(tmp_path / "boards")]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}

    first = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert first.returncode == -signal.SIGKILL, first.stderr
    killed_after = len(calls.read_text().splitlines())
    second = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert second.returncode == 0, second.stderr
    assert "trained 0 models, computed 1 explanation," in second.stderr
    lines = [line.split("|") for line in calls.read_text().splitlines()]
    examples = [name for line in lines for name in line]
    before, after = set(examples[:64]), lines[killed_after:]
    assert len(before) == 64
    asked_again: set[str] = set()
    while len(asked_again) < 36:
        asked_again |= set(after.pop(0))
    assert len(asked_again) == 36
    assert not asked_again & before

    # The same suite undisturbed, from a file of other content, so other keys.
    file.write_text(FRAGILE.format(calls=str(calls), kill=False))
    interrupted, undisturbed = tiny.place(tmp_path / "results"), tiny.place(tmp_path / "undisturbed")
    tiny.carried_out(suites.load(str(toml)), undisturbed)
    for method in ("random", "fragile"):
        one, other = by_method(interrupted)[method], by_method(undisturbed)[method]
        pd.testing.assert_frame_equal(interrupted.store.scores(one.key), undisturbed.store.scores(other.key))
        values = [[(row.metric, row.value, row.low, row.high) for row in record.rows] for record in (one, other)]
        assert values[0] == values[1]


def test_what_is_over_the_budget_is_shown_and_not_run(tmp_path: Path) -> None:
    place = tiny.place(tmp_path)
    poor = dataclasses.replace(tiny.SUITE, budget=100)
    outcome = tiny.carried_out(poor, place)
    assert outcome.explained == 1  # random costs nothing
    skipped = by_method(place)["gradient-l2"]
    assert skipped.status == "skipped"
    assert "over the budget" in skipped.reason
    richer = tiny.carried_out(tiny.SUITE, place)
    assert richer.explained == 1
    assert by_method(place)["gradient-l2"].status == "ok"


def test_scores_that_give_no_order_are_undefined_and_hurt_nobody(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "flat.py"
    file.write_text(tiny.BROKEN)
    chosen = suites.changed(tiny.SUITE, methods=[f"{file}:flat", "attention"])
    outcome = tiny.carried_out(chosen, place)
    assert outcome.failures == []
    row = by_method(place)["flat"].rows[0]
    assert (row.value, row.curve, row.undefined) == (None, [], row.n)
    assert by_method(place)["attention"].rows[0].value is not None


def test_a_budget_never_takes_back_what_is_stored(place: Place) -> None:
    poor = dataclasses.replace(tiny.SUITE, budget=10)
    outcome = tiny.carried_out(poor, place)
    assert (outcome.explained, outcome.stored) == (0, 2)
    assert by_method(place)["gradient-l2"].status == "ok"


def test_a_broken_metric_fails_alone(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "metric.py"
    file.write_text(
        "import dataclasses\nfrom faithboard.metrics import COMPREHENSIVENESS\n"
        "def masks(ranks, scorable):\n    raise KeyError('no such mask')\n"
        "BROKEN = dataclasses.replace(COMPREHENSIVENESS, name='broken', masks=masks)\n"
    )
    chosen = suites.changed(tiny.SUITE, metrics=[f"{file}:BROKEN", "sufficiency"])
    outcome = tiny.carried_out(chosen, place)
    assert len(outcome.failures) == 1
    assert "metric broken on tiny" in outcome.failures[0]
    rows = {row.metric: row for row in by_method(place)["random"].rows}
    assert rows["broken"].status == "failed"
    assert "no such mask" in rows["broken"].reason
    assert rows["sufficiency"].value is not None


def test_a_deleted_model_is_trained_again_and_its_scores_are_kept(place: Place) -> None:
    (record,) = place.store.models()
    (place.store.root / "models" / f"{record.key}.json").unlink()
    outcome = tiny.carried_out(tiny.SUITE, place)
    assert (outcome.trained, outcome.explained, outcome.stored) == (1, 0, 2)
    assert place.store.models()[0].weights_sha256 == record.weights_sha256


def damaged(place: Place) -> ModelRecord:
    """The only model, whose weights are changed in one bit."""
    (record,) = place.store.models()
    path = place.store.root / "models" / f"{record.key}.safetensors"
    content = bytearray(path.read_bytes())
    content[-5] ^= 0x40
    path.write_bytes(content)
    return record


def test_a_damaged_model_is_trained_again_counted_and_names_its_source(tmp_path: Path) -> None:
    place, file = tiny.place(tmp_path / "results"), tmp_path / "own.py"
    file.write_text(
        "from faithboard import Training\n"
        "def procedure(supervised, config, vocabulary):\n"
        "    return lambda model, batch, labels, rng: supervised(model(batch).logits, labels, batch.candidates)\n"
        "OWN = Training('own', procedure, source='a test')\n"
    )
    chosen = suites.changed(tiny.SUITE, trainings=[f"{file}:OWN"], methods=["random"])
    tiny.carried_out(chosen, place)
    before = damaged(place)
    assert set(before.provenance["sources"]) == {f"task {tiny.TINY.name}", "training own"}
    outcome = tiny.carried_out(suites.changed(chosen, methods=["gradient-l2"]), place)
    assert (outcome.trained, outcome.explained, outcome.failures) == (1, 1, [])
    (after,) = place.store.models()
    assert after.provenance["sources"] == before.provenance["sources"]
    assert place.store.source(after.provenance["sources"]["training own"]) == file.read_text()


def test_a_model_that_is_asked_for_alone_is_checked_and_trained_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = suites.models_only(tiny.SUITE)
    assert tiny.carried_out(alone, place).trained == 0
    record = damaged(place)
    assert tiny.carried_out(alone, place).trained == 1
    assert weights_sha256(place.store.load_weights(record.key)) == record.weights_sha256
    # Results that came without weights are no damage.
    (place.store.root / "models" / f"{record.key}.safetensors").unlink()
    monkeypatch.setattr("faithboard.running.jobs.fitted", lambda *_: pytest.fail("it was trained again"))
    assert tiny.carried_out(alone, place).trained == 0


def test_a_suite_that_was_cut_short_misses_seeds_and_ranks_nothing(place: Place) -> None:
    plan = tiny.planned(dataclasses.replace(tiny.SUITE, name="cut", seeds=(0, 1)), place)
    run(dataclasses.replace(plan, jobs=plan.jobs[:1]), place.store, place.device, Progress())
    board = board_of(results_of(place.store, "cut-v1"))
    assert {standing.rank for standing in board.standings} == {None}


def test_forgetting_takes_a_method_off_the_board_and_not_out_of_the_store(place: Place) -> None:
    place.store.forget("tiny-v1", "gradient-l2")
    board = board_of(results_of(place.store, "tiny-v1"))
    assert {standing.method for standing in board.standings} == {"random"}
    assert "gradient-l2" in by_method(place)
    with pytest.raises(SuiteError, match="did you mean random"):
        place.store.forget("tiny-v1", "randm")


def test_a_suite_of_the_same_name_and_other_content_is_refused_before_anything_runs(place: Place) -> None:
    before = place.store.suites()
    for other in (dataclasses.replace(tiny.SUITE, examples=20), dataclasses.replace(tiny.SUITE, seeds=(0, 1))):
        with pytest.raises(SuiteError, match="another name or version"):
            tiny.carried_out(other, place)
    assert place.store.suites() == before
