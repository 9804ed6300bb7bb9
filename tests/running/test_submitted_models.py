"""A person's own model stands in a run like a reference model, and what is wrong with it hurts its own jobs alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from faithboard import suites
from faithboard.cli.planned import table
from faithboard.errors import ContractError, SuiteError
from faithboard.plan import Plan
from faithboard.records import ModelRecord
from faithboard.resolve import resolve
from faithboard.results import board_of, results_of
from faithboard.running.submitted import made
from faithboard.session import Place
from faithboard.suites import Suite
from tests import tiny
from tests.own_model import DEFINITION, NETWORK
from tests.training.tiny import tiny as tiny_data


def written(folder: Path, content: str = DEFINITION, name: str = "own.py") -> Path:
    path = folder / name
    path.write_text(content)
    return path


def suite(reference: str, *more: str, methods: tuple[str, ...] = ("random", "gradient-x-input", "attention")) -> Suite:
    return suites.changed(tiny.SUITE, models=[reference, *more], methods=methods)


def states(plan: Plan, job: int = 0) -> dict[str, str]:
    return {one.name: one.state for one in plan.jobs[job].explanations}


def record_of(place: Place) -> ModelRecord:
    (record,) = place.store.models()
    return record


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, Suite]:
    folder = tmp_path_factory.mktemp("own")
    place, chosen = tiny.place(folder / "results"), suite(f"{written(folder)}:bag_of_words")
    outcome = tiny.carried_out(chosen, place)
    assert (outcome.trained, outcome.explained, outcome.failures) == (1, 2, [])
    return place, chosen


def test_a_plan_says_what_it_can_and_what_it_does_not_know(tmp_path: Path) -> None:
    plan = tiny.planned(suite(f"{written(tmp_path)}:bag_of_words"), tiny.place(tmp_path / "results"))
    assert states(plan) == {"random": "run", "gradient-x-input": "run", "attention": "unsupported"}
    assert plan.jobs[0].title == "tiny / bag-of-words / standard / seed 0"
    assert "needs attention, which bag-of-words has not on this task" in table(plan)
    assert "unknown" in table(plan)


def test_it_is_trained_tested_gated_explained_and_ranked(finished: tuple[Place, Suite]) -> None:
    place, _ = finished
    record = record_of(place)
    assert (record.model, record.training, record.gate_passed) == ("bag-of-words", "standard", True)
    assert record.performance["accuracy"] > 0.9
    assert record.config["source"] == "an example"
    assert len(place.store.predictions(record.key)) == 150
    board = board_of(results_of(place.store, "tiny-v1"))
    best = {s.method: s.value or 0.0 for s in board.standings if s.metric == "precision@k"}
    assert best["gradient-x-input"] > 0.85
    assert [check.model for check in board.checks] == ["bag-of-words"]


def test_nothing_of_it_is_computed_twice(finished: tuple[Place, Suite]) -> None:
    place, chosen = finished
    outcome = tiny.carried_out(chosen, place)
    assert (outcome.trained, outcome.explained, outcome.scored, outcome.stored) == (0, 0, 0, 2)


def test_stored_weights_come_back_without_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(
        tmp_path,
        DEFINITION.replace("    if data.stored:", "    print('stored' if data.stored else 'new')\n    if data.stored:"),
    )
    place = tiny.place(tmp_path / "results")
    tiny.carried_out(suite(f"{path}:bag_of_words"), place)
    before = record_of(place)
    outcome = tiny.carried_out(suite(f"{path}:bag_of_words", methods=("leave-one-out",)), place)
    assert (outcome.trained, outcome.explained, outcome.failures) == (0, 1, [])
    assert record_of(place) == before
    assert capsys.readouterr().out.split() == ["new", "stored"]


def test_the_same_file_and_seed_give_the_same_weights_and_another_file_another_model(
    tmp_path: Path, finished: tuple[Place, Suite]
) -> None:
    place, _ = finished
    again = tiny.place(tmp_path / "results")
    tiny.carried_out(suite(f"{written(tmp_path)}:bag_of_words"), again)
    assert record_of(again).key == record_of(place).key
    assert record_of(again).weights_sha256 == record_of(place).weights_sha256
    path = written(tmp_path, DEFINITION + "# changed\n")
    assert tiny.planned(suite(f"{path}:bag_of_words"), again).jobs[0].state == "train"


def test_random_initialisation_comes_from_the_seed_and_leaves_the_state_alone(tmp_path: Path) -> None:
    path = written(tmp_path, DEFINITION.replace("nn.init.zeros_", "nn.init.normal_"))
    definition, data = resolve("model", f"{path}:bag_of_words").value, tiny_data()
    before = torch.get_rng_state()
    one, same, other = (made(definition, data, seed, torch.device("cpu")) for seed in (0, 0, 1))
    assert torch.equal(before, torch.get_rng_state())
    assert torch.equal(one.state_dict()["table.weight"], same.state_dict()["table.weight"])
    assert not torch.equal(one.state_dict()["table.weight"], other.state_dict()["table.weight"])


def test_a_finished_classifier_is_taken_as_it_is(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        NETWORK
        + """
from faithboard import Specials
MY_MODEL = BagOfWords(500, Specials(pad=0, unk=1, begin=2, end=3, sep=4), 2)
with torch.no_grad():
    MY_MODEL.table.weight[:, 1] = torch.linspace(-1, 1, 500)
""",
    )
    place = tiny.place(tmp_path / "results")
    outcome = tiny.carried_out(suite(f"{path}:MY_MODEL"), place)
    assert (outcome.trained, outcome.explained, outcome.failures) == (1, 2, [])
    assert record_of(place).model == "my-model"
    assert tiny.planned(suite(f"{path}:MY_MODEL"), place).jobs[0].state == "stored"
    weights = place.store.load_weights(record_of(place).key)
    torch.testing.assert_close(weights["table.weight"][:, 1], torch.linspace(-1, 1, 500))


def test_files_it_reads_are_part_of_what_it_is(tmp_path: Path) -> None:
    path = written(tmp_path, DEFINITION.replace('source="an example"', 'files=["weights.pt"]'))
    weights = tmp_path / "weights.pt"
    weights.write_text("one")
    first = resolve("model", f"{path}:bag_of_words")
    weights.write_text("two")
    assert resolve("model", f"{path}:bag_of_words").sha256 != first.sha256
    assert resolve("model", f"{path}:bag_of_words").value == first.value


BAD = {
    "it raised.*ZeroDivisionError": "1 / 0",
    "must return a Classifier, not a Linear": "return nn.Linear(2, 2)",
    "it has 3 classes, tiny has 2": "return BagOfWords(len(data.words), data.specials, 3)",
    r"logits must have the shape \[batch, class\]": "network.forward = lambda batch, **_: Output(torch.zeros(2, 7))",
    "embed.*must have the shape": "network.embed = lambda batch: network.table(batch.ids).sum(1)\n"
    "    network.forward = lambda batch, **_: Output(torch.zeros(len(batch), 2))",
    "logits of example .* are not finite": "network.bias.data.fill_(float('nan'))",
    "announced with attention, but its `capabilities` are gradients": "pass",
    "IndexError": "network.table = nn.Embedding(3, 2)",
    "no parameter": "network = BagOfWords(0, data.specials, 2)\n    del network.table, network.bias\n"
    "    network.forward = lambda batch, **_: Output(torch.zeros(len(batch), 2))",
    "sys.exit|SystemExit": "raise SystemExit(3)",
}


@pytest.mark.parametrize("message", BAD)
def test_what_is_wrong_with_it_fails_its_own_jobs_alone(tmp_path: Path, message: str) -> None:
    claimed = '{"gradients", "attention"}' if "announced" in message else '{"gradients"}'
    body = (
        f"network = BagOfWords(len(data.words), data.specials, data.n_classes)\n    {BAD[message]}\n    return network"
    )
    path = written(tmp_path, f'{NETWORK}\n@model("broken", capabilities={claimed})\ndef broken(data):\n    {body}\n')
    place = tiny.place(tmp_path / "results")
    chosen = suites.changed(
        suite(f"{path}:broken", "average-uniform", methods=("random",)), settings={"epochs": 1, "hidden": 4}
    )
    outcome = tiny.carried_out(chosen, place)
    by_model = {record.model: record for record in place.store.models()}
    assert (by_model["broken"].status, by_model["average-uniform"].status) == ("failed", "ok")
    assert (outcome.trained, outcome.explained, len(outcome.failures)) == (1, 1, 1)
    with pytest.raises(AssertionError, match=message.replace("\n", " ")):
        raise AssertionError(by_model["broken"].reason.replace("\n", " "))
    assert tiny.planned(chosen, place).jobs[0].state == "failed"


def test_a_model_that_fails_on_a_masked_text_ends_its_own_job_alone(tmp_path: Path) -> None:
    body = DEFINITION.replace(
        "        return Output(self.bias + states.sum(1))",
        "        if bool((batch.scorable_lengths == 6).any()):\n            raise ValueError('six words')\n"
        "        return Output(self.bias + states.sum(1))",
    )
    place = tiny.place(tmp_path / "results")
    chosen = suite(f"{written(tmp_path, body)}:bag_of_words", "average-uniform", methods=("random", "leave-one-out"))
    outcome = tiny.carried_out(suites.changed(chosen, settings={"epochs": 1}), place)
    assert outcome.trained == 2
    assert any("ValueError: six words" in failure for failure in outcome.failures)


def test_trainings_that_cannot_apply_are_said_or_refused(tmp_path: Path) -> None:
    place, reference = tiny.place(tmp_path / "results"), f"{written(tmp_path)}:bag_of_words"
    plan = tiny.planned(suite(reference, methods=("gradient-l2", "gradient-l2-saliency-guided")), place)
    assert [job.training.procedure for job in plan.jobs] == ["standard"]
    assert plan.inapplicable == ("saliency-guided does not apply to bag-of-words, which is trained by its own file",)
    only = suites.changed(tiny.SUITE, models=[reference], trainings=["saliency-guided"])
    with pytest.raises(SuiteError, match="is trained by its own file, so saliency-guided cannot train it"):
        tiny.planned(only, place)


def test_damaged_weights_are_made_anew(finished: tuple[Place, Suite], tmp_path: Path) -> None:
    place = tiny.place(tmp_path / "results")
    chosen = suite(f"{written(tmp_path)}:bag_of_words", methods=("random",))
    tiny.carried_out(chosen, place)
    (file,) = (tmp_path / "results" / "models").glob("*.safetensors")
    os.truncate(file, 10)
    outcome = tiny.carried_out(suites.changed(chosen, methods=["gradient-l2"]), place)
    assert (outcome.explained, outcome.failures) == (1, [])
    assert record_of(place).weights_sha256 == record_of(finished[0]).weights_sha256


def test_a_model_without_a_classifier_is_no_model() -> None:
    from faithboard.submitted import model

    with pytest.raises(ContractError, match=r"unknown capability \['flight'\]"):
        model("bird", capabilities={"flight"})
    with pytest.raises(ContractError, match="a name is made of"):
        model("My Model", capabilities=())
