"""Models are trained once, stored with what testing found, and brought back or trained again when they are damaged."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from faithboard import suites
from faithboard.errors import DataError, StoreError
from faithboard.plan import PlannedJob
from faithboard.records import ModelRecord
from faithboard.running import fitting
from faithboard.running.fitting import fitted
from faithboard.running.progress import Progress
from faithboard.running.weights import weights_sha256
from faithboard.session import Place
from faithboard.suites import Suite
from tests import tiny

LOSS = """
from faithboard import Training

def procedure(supervised, config, vocabulary):
    def loss(model, batch, labels, rng):
        {body}
        return supervised(model(batch).logits, labels, batch.candidates)
    return loss

OWN = Training("own", procedure, source="a test")
"""

FRAGILE = """import os, signal
        from pathlib import Path
        log, killed = Path({log!r}), Path({killed!r})
        with log.open("a") as lines:
            lines.write("step\\\\n")
        if not killed.exists() and len(log.read_text().splitlines()) == 30:
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)"""

KILLED_SUITE = """
name = "killed"
version = 1
tasks = ["{task}"]
models = ["bilstm-additive"]
methods = ["random"]
metrics = ["comprehensiveness"]
trainings = ["{training}"]
seeds = [0]
examples = 10
budget = 1000000
settings = {{ epochs = 4, learning_rate = 0.005 }}
"""


class Told(Progress):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


def own(folder: Path, body: str = "pass") -> Path:
    file = folder / "own.py"
    file.write_text(LOSS.format(body=body))
    return file


def with_training(*trainings: str, **settings: object) -> Suite:
    """The tiny suite, a short one, with other trainings."""
    changed = suites.changed(tiny.SUITE, methods=["random"], settings={"epochs": 2} | settings)
    return dataclasses.replace(changed, trainings=trainings)


def jobs(suite: Suite, place: Place) -> list[PlannedJob]:
    return list(tiny.planned(suite, place).jobs)


def fit(job: PlannedJob, place: Place) -> tuple[dict[str, torch.Tensor], ModelRecord, list[str]]:
    progress = Told()
    found = fitted(job, place.store, place.device, progress, {})
    assert not found.model.training
    return found.model.state_dict(), found.record, progress.lines


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A results folder with the tiny model. Tests only read it, or copy it."""
    place = tiny.place(tmp_path_factory.mktemp("trained"))
    fit(jobs(with_training("standard"), place)[0], place)
    return place


@pytest.fixture
def place(trained: Place, tmp_path: Path) -> Place:
    """A copy of the trained model."""
    subprocess.run(["cp", "-r", trained.store.root, tmp_path / "results"], check=True)
    return tiny.place(tmp_path / "results")


def test_what_is_recorded_of_a_model(trained: Place) -> None:
    (record,) = trained.store.models()
    test = jobs(with_training("standard"), trained)[0].prepared.data.splits["test"]
    assert [entry["epoch"] for entry in record.history] == [1, 2]
    assert all(entry["seconds"] > 0 for entry in record.history)
    assert record.provenance["train_seconds"] == pytest.approx(sum(e["seconds"] for e in record.history), abs=0.01)
    assert record.provenance["train_memory_mb"] > 0
    assert record.weights_sha256 == weights_sha256(trained.store.load_weights(record.key))
    assert 0.5 < record.performance["confidence"] <= 1
    assert 0 <= record.performance["gradient-mass-bottom-half"] <= 0.5
    assert "accuracy-query-only" not in record.performance
    assert not {"mask_share", "init", "precision"} & set(record.config)
    found = trained.store.predictions(record.key)
    assert found["example"].tolist() == [example.id for example in test]
    assert found["right"].mean() == pytest.approx(record.performance["accuracy"])
    assert found["right_query_only"].isna().all()
    assert trained.store.checkpoint(record.key) is None


def test_a_task_with_a_query_has_the_accuracy_without_the_text(tmp_path: Path) -> None:
    asked = tmp_path / "asked.py"
    asked.write_text(
        "import dataclasses\nfrom tests import tiny\n\n"
        "def generate(split):\n"
        "    for record in tiny.generate(split):\n"
        "        yield dataclasses.replace(record, query=('is', 'it', record.label))\n\n"
        "ASKED = dataclasses.replace(tiny.TINY, name='asked', layout='pair', generate=generate,\n"
        "                            rationale=None, planted={})\n"
    )
    place = tiny.place(tmp_path / "results")
    suite = suites.changed(with_training("standard"), tasks=[f"{asked}:ASKED"], metrics=["comprehensiveness"])
    _, record, _ = fit(jobs(suite, place)[0], place)
    # The query gives the answer away, so the text is not needed.
    assert record.performance["accuracy-query-only"] > 0.95
    right = place.store.predictions(record.key)["right_query_only"]
    assert right.mean() == pytest.approx(record.performance["accuracy-query-only"])


def test_a_stored_model_is_not_trained_again(trained: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "train", lambda *_, **__: pytest.fail("it was trained again"))
    weights, record, told = fit(jobs(with_training("standard"), trained)[0], trained)
    assert told == []
    assert weights_sha256(weights) == record.weights_sha256


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-5] ^= 0x40
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (flipped, "are not those of its record"),
        (lambda path: path.write_bytes(path.read_bytes()[:100]), "cannot be read"),
        (lambda path: path.unlink(), "cannot be read"),
    ],
    ids=["one bit", "cut short", "gone"],
)
def test_damaged_weights_are_said_and_trained_again(place: Place, damage: object, message: str) -> None:
    job = jobs(with_training("standard"), place)[0]
    path = place.store.root / "models" / f"{job.key}.safetensors"
    before = path.read_bytes()
    assert callable(damage)
    damage(path)
    _, record, told = fit(job, place)
    assert len(told) == 1
    assert message in told[0]
    assert "tiny / bilstm-additive / standard / seed 0" in told[0]
    assert path.read_bytes() == before
    assert place.store.model(job.key) == record


def test_a_loss_that_is_not_finite_fails_its_job_alone(tmp_path: Path) -> None:
    place = tiny.place(tmp_path / "results")
    file = own(tmp_path, "return model(batch).logits.sum() * (float('nan') if rng.uniform().sum() > 0 else 1)")
    outcome = tiny.carried_out(with_training(f"{file}:OWN", "standard"), place)
    assert (outcome.trained, outcome.explained, len(outcome.failures)) == (1, 1, 1)
    records = {record.training: record for record in place.store.models()}
    assert records["standard"].status == "ok"
    assert records["own"].status == "failed"
    assert "nan in epoch 1, step 1, at learning rate 0.02" in records["own"].reason
    again = tiny.carried_out(with_training(f"{file}:OWN", "standard"), place)
    assert (again.trained, again.stored, len(again.failures)) == (0, 1, 2)


def test_whatever_a_procedure_raises_is_its_own_failure(tmp_path: Path) -> None:
    place = tiny.place(tmp_path / "results")
    file = own(tmp_path, "{}['no such key']")
    outcome = tiny.carried_out(with_training(f"{file}:OWN", "standard"), place)
    assert (outcome.trained, len(outcome.failures)) == (1, 1)
    reason = next(record.reason for record in place.store.models() if record.training == "own")
    assert "own.py" in reason
    assert "KeyError: 'no such key'" in reason


def test_a_procedure_that_exits_fails_its_own_job_alone(tmp_path: Path) -> None:
    place = tiny.place(tmp_path / "results")
    file = own(tmp_path, "raise SystemExit(3)")
    outcome = tiny.carried_out(suites.models_only(with_training(f"{file}:OWN", "standard")), place)
    assert (outcome.trained, len(outcome.failures)) == (1, 1)
    records = {record.training: record for record in place.store.models()}
    assert (records["own"].status, records["standard"].status) == ("failed", "ok")
    assert "SystemExit: 3" in records["own"].reason


def test_a_submitted_training_belongs_to_the_content_of_its_file(tmp_path: Path) -> None:
    place, file = tiny.place(tmp_path / "results"), own(tmp_path)
    suite = with_training(f"{file}:OWN")
    assert tiny.carried_out(suite, place).trained == 1
    assert tiny.carried_out(suite, place).trained == 0
    file.write_text(file.read_text() + "# one more line\n")
    assert tiny.carried_out(suite, place).trained == 1
    assert {record.training for record in place.store.models()} == {"own"}
    # The procedure is that of standard training, and so are the weights.
    standard = fit(jobs(with_training("standard"), place)[0], place)[1]
    assert {record.weights_sha256 for record in place.store.models()} == {standard.weights_sha256}


def test_a_killed_training_goes_on_after_its_last_epoch_and_ends_the_same(tmp_path: Path) -> None:
    log, killed, toml = tmp_path / "log", tmp_path / "killed", tmp_path / "killed.toml"
    file = own(tmp_path, FRAGILE.format(log=str(log), killed=str(killed)).replace("\\\\n", "\\n"))
    toml.write_text(KILLED_SUITE.format(task=f"{tiny.TASK_FILE}:TINY", training=f"{file}:OWN"))
    command = [sys.executable, "-m", "faithboard", "run", "--suite", str(toml), "--no-track"]
    command += ["--results", str(tmp_path / "results"), "--leaderboards", str(tmp_path / "boards")]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}

    first = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert first.returncode == -signal.SIGKILL, first.stderr
    assert len(log.read_text().splitlines()) == 30
    interrupted = tiny.place(tmp_path / "results")
    (job,) = jobs(suites.load(str(toml)), interrupted)
    _, record, told = fit(job, interrupted)
    # 13 batches an epoch: two epochs and four steps were done, two epochs are left, and one step measures memory.
    assert told == ["training tiny / bilstm-additive / own / seed 0 goes on after epoch 2"]
    assert len(log.read_text().splitlines()) == 30 + 26 + 1

    undisturbed = tiny.place(tmp_path / "undisturbed")
    _, expected, _ = fit(job, undisturbed)
    names = [f"{job.key}.safetensors", f"{job.key}.predictions.parquet"]
    for name in names:
        ours, theirs = (place.store.root / "models" / name for place in (interrupted, undisturbed))
        assert ours.read_bytes() == theirs.read_bytes()
    assert record.performance == expected.performance
    assert len(record.history) == 4
    assert [entry["loss"] for entry in record.history] == [entry["loss"] for entry in expected.history]
    assert interrupted.store.checkpoint(job.key) is None


def test_a_damaged_checkpoint_is_said_and_not_used(trained: Place, tmp_path: Path) -> None:
    place = tiny.place(tmp_path / "results")
    job = jobs(with_training("standard"), place)[0]
    (place.store.root / "models" / f"{job.key}.checkpoint").write_bytes(b"half a checkpoint")
    _, record, told = fit(job, place)
    assert len(told) == 1
    assert "from the beginning" in told[0]
    assert record.weights_sha256 == trained.store.models()[0].weights_sha256
    assert place.store.checkpoint(job.key) is None


def test_a_model_that_goes_on_from_another_of_its_seed(trained: Place, place: Place) -> None:
    suite = with_training("standard", "random-masking", init="standard")
    standard, tuned = jobs(suite, place)
    (scratch,) = jobs(with_training("random-masking"), place)
    assert standard.key == trained.store.models()[0].key
    assert standard.start is None
    assert tuned.start is not None
    assert tuned.start.key == standard.key
    assert tuned.key not in (standard.key, scratch.key)
    assert tuned.train_steps == scratch.train_steps
    _, record, _ = fit(tuned, place)
    assert record.config["init"] == "standard"
    # It starts where standard training ended, so its first loss is lower than from fresh weights.
    assert record.history[0]["loss"] < fit(scratch, place)[1].history[0]["loss"]


def test_the_start_is_trained_where_it_is_missing(tmp_path: Path) -> None:
    place = tiny.place(tmp_path / "results")
    (tuned,) = jobs(with_training("random-masking", init="standard"), place)
    (scratch,) = jobs(with_training("random-masking"), place)
    # One pass per batch for the standard training it starts from, two for its own.
    assert scratch.train_steps is not None
    assert tuned.train_steps == 1.5 * scratch.train_steps
    fit(tuned, place)
    assert [record.training for record in sorted(place.store.models(), key=lambda r: r.training)] == [
        "random-masking",
        "standard",
    ]


def test_a_start_that_failed_fails_what_goes_on_from_it(tmp_path: Path) -> None:
    place = tiny.place(tmp_path / "results")
    file = own(tmp_path, "raise ValueError('no luck')")
    suite = with_training(f"{file}:OWN", "random-masking", init="own")
    for _ in range(2):
        outcome = tiny.carried_out(suite, place)
        assert outcome.trained == 0
        reason = next(record.reason for record in place.store.models() if record.training == "random-masking")
        assert "the model it goes on from, tiny / bilstm-additive / own / seed 0" in reason
        assert "no luck" in reason


@pytest.mark.parametrize("error", [DataError("a broken line"), StoreError("the disk is full")])
def test_what_is_no_failure_of_a_start_is_none_of_what_goes_on_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    place = tiny.place(tmp_path / "results")
    (tuned,) = jobs(with_training("random-masking", init="standard"), place)
    monkeypatch.setattr(fitting, "train", fail)
    with pytest.raises(type(error), match=str(error)):
        fit(tuned, place)
    assert place.store.models() == []
