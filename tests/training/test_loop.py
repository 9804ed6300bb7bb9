"""The loop: it learns, keeps the best dev epoch, repeats itself to the byte, and stops where it must."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.config import ModelConfig, TrainingConfig
from faithboard.data import TaskData
from faithboard.data.encoded import Encoded
from faithboard.errors import ContractError, DataError, FaithboardError, SuiteError
from faithboard.models import AttentionClassifier, build
from faithboard.performance import measure, probabilities
from faithboard.rng import Rng
from faithboard.task import Task
from faithboard.training import BUILTIN, STANDARD, Checkpoint, Procedure, Training, check_training, loop, train
from faithboard.training.loop import has_bfloat16
from tests.training.tiny import PAIR, TASK, tiny

QUICK = TrainingConfig(epochs=3, batch_size=16, learning_rate=0.01)


def fresh(data: TaskData, seed: int = 0) -> AttentionClassifier:
    matrix = torch.randn(len(data.vocabulary), 8, generator=torch.Generator().manual_seed(seed))
    return build(ModelConfig(hidden=8), data.task, matrix, data.vocabulary.specials, seed=seed)


def weights(model: Classifier) -> bytes:
    return b"".join(value.numpy().tobytes() for value in model.state_dict().values())


def submitted(procedure: Procedure) -> Training:
    return Training("submitted", lambda supervised, config, vocabulary: procedure, source="a test")


def scripted(monkeypatch: pytest.MonkeyPatch, scores: list[float]) -> list[bytes]:
    """Make the dev measure that selects follow a script, and any other run against it; returns the weights seen at each
    epoch's end."""
    seen: list[bytes] = []

    def next_scores(model: Classifier, _dev: Encoded, _task: Task, wanted: Sequence[str]) -> dict[str, float]:
        seen.append(weights(model))
        score = scores[len(seen) - 1]
        return {**dict.fromkeys(wanted, 1 - score), wanted[-1]: score}

    monkeypatch.setattr(loop, "_dev_scores", next_scores)
    return seen


def test_learns_the_tiny_task_and_reports_it() -> None:
    data, told = tiny(), []
    model = fresh(data)
    trained = train(model, data, QUICK, 0, progress=lambda epoch, epochs, entry: told.append((epoch, epochs, entry)))
    test = data.splits["test"]
    found = measure(probabilities(model, test, data, "cpu"), [example.label for example in test], data.task)
    assert found["accuracy"] >= 0.95
    assert not model.training
    assert [entry for _, _, entry in told] == trained.history
    assert told[0][:2] == (1, 3)
    assert set(trained.history[0]) == {"epoch", "loss", "dev-accuracy", "dev-roc-auc", "seconds"}
    assert trained.seconds >= sum(entry["seconds"] for entry in trained.history)


@pytest.mark.parametrize("training", BUILTIN, ids=lambda training: training.name)
@pytest.mark.parametrize("task", [TASK, replace(TASK, layout="sequence")], ids=lambda task: task.layout)
def test_the_same_seed_gives_the_same_bytes(task: Task, training: Training) -> None:
    data = tiny(task)
    before = torch.random.get_rng_state()
    runs = []
    for seed, noise in ((0, 1), (0, 2), (1, 1)):
        model = fresh(data)
        with torch.random.fork_rng():
            torch.manual_seed(noise)
            train(model, data, replace(QUICK, epochs=1), seed, training)
        runs.append(weights(model))
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
    train(fresh(data), data, replace(QUICK, epochs=1), 0, training)
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize("training", BUILTIN, ids=lambda training: training.name)
def test_a_training_that_goes_on_ends_with_the_same_bytes(training: Training) -> None:
    data = tiny(replace(TASK, layout="sequence"))
    states: list[bytes] = []

    def save(state: Checkpoint) -> None:
        kept = io.BytesIO()
        torch.save(dict(state), kept)
        states.append(kept.getvalue())

    model = fresh(data)
    # At this rate the dev score rises and falls, so an earlier epoch than the last is the best one.
    settings = replace(QUICK, learning_rate=0.1, select="accuracy", epochs=4)
    undisturbed = train(model, data, settings, 0, training, save=save)
    assert len(states) == len(undisturbed.history) > 1
    for state in states:
        again = fresh(data, seed=5)
        resumed = train(again, data, settings, 0, training, resume=torch.load(io.BytesIO(state), weights_only=True))
        assert weights(again) == weights(model)
        assert resumed.best_epoch == undisturbed.best_epoch
        assert [e["loss"] for e in resumed.history] == [e["loss"] for e in undisturbed.history]


def test_mixed_precision_is_refused_on_a_cpu_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faithboard.training.loop.has_bfloat16", lambda device: False)
    data = tiny()
    with pytest.raises(FaithboardError, match=r"needs a processor with bfloat16.*'float32'"):
        train(fresh(data), data, replace(QUICK, precision="bfloat16"), 0)
    train(fresh(data), data, replace(QUICK, epochs=1), 0)


@pytest.mark.skipif(not has_bfloat16(torch.device("cpu")), reason="this CPU has no bfloat16 arithmetic")
@pytest.mark.parametrize("training", BUILTIN, ids=lambda training: training.name)
def test_mixed_precision_only_where_it_is_asked_for(training: Training) -> None:
    data = tiny()
    settings = replace(QUICK, epochs=2, precision="bfloat16")
    mixed, again, full = fresh(data), fresh(data), fresh(data)
    history = train(mixed, data, settings, 0, training).history
    train(again, data, settings, 0, training)
    train(full, data, replace(settings, precision="float32"), 0, training)
    assert weights(mixed) == weights(again)
    assert weights(mixed) != weights(full)
    assert {value.dtype for value in mixed.state_dict().values()} == {torch.float32}
    assert history[1]["loss"] < history[0]["loss"]


def test_the_best_dev_epoch_is_kept_and_the_earlier_one_on_a_tie(monkeypatch: pytest.MonkeyPatch) -> None:
    data = tiny()
    model = fresh(data)
    seen = scripted(monkeypatch, [0.5, 0.8, 0.8, 0.7])
    trained = train(model, data, replace(QUICK, epochs=4), 0)
    assert trained.best_epoch == 2
    assert weights(model) == seen[1]
    assert len(set(seen)) == 4


@pytest.mark.parametrize(
    ("scores", "patience", "epochs"),
    [([0.5, 0.6, 0.6, 0.4, 0.9], 2, 4), ([0.5, 1.0, 0.9], None, 2), ([0.1, 0.2, 0.3, 0.4, 0.5], 1, 5)],
    ids=["patience", "perfect", "all"],
)
def test_when_it_stops(scores: list[float], patience: int | None, epochs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tiny()
    scripted(monkeypatch, scores)
    trained = train(fresh(data), data, replace(QUICK, epochs=5, patience=patience), 0)
    assert len(trained.history) == epochs


LAST = replace(QUICK, select="last")
SEQUENCE = replace(TASK, layout="sequence")


@pytest.mark.parametrize(
    ("task", "training"),
    [(TASK, STANDARD), (PAIR, STANDARD), *((SEQUENCE, training) for training in BUILTIN)],
    ids=lambda one: one.name,
)
def test_the_last_epoch_is_kept_of_every_task_and_training(task: Task, training: Training) -> None:
    data = tiny(task)
    ended: list[bytes] = []
    model = fresh(data)
    trained = train(
        model,
        data,
        replace(LAST, epochs=2, procedure=training.name),
        0,
        training,
        save=lambda state: ended.append(weights(model)),
    )
    assert trained.best_epoch == len(trained.history) == 2
    assert weights(model) == ended[-1] != ended[0]
    assert set(trained.history[0]) == {"epoch", "loss", "dev-accuracy", "seconds"}


def test_neither_a_worse_score_nor_a_perfect_one_nor_patience_ends_it_before_the_last_epoch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = tiny()
    model = fresh(data)
    seen = scripted(monkeypatch, [0.9, 1.0, 0.3, 0.2])
    trained = train(model, data, replace(LAST, epochs=4, patience=1), 0)
    assert trained.best_epoch == 4
    assert weights(model) == seen[3]


def test_the_last_epoch_is_kept_by_a_training_that_goes_on() -> None:
    data = tiny()
    states: list[bytes] = []

    def save(state: Checkpoint) -> None:
        kept = io.BytesIO()
        torch.save(dict(state), kept)
        states.append(kept.getvalue())

    model = fresh(data)
    train(model, data, LAST, 0, save=save)
    again = fresh(data, seed=5)
    resumed = train(again, data, LAST, 0, resume=torch.load(io.BytesIO(states[1]), weights_only=True))
    assert weights(again) == weights(model)
    assert resumed.best_epoch == 3


def test_patience_is_no_part_of_a_training_that_keeps_the_last_epoch() -> None:
    assert "patience" in STANDARD.used(replace(QUICK, patience=2))
    assert STANDARD.used(replace(LAST, patience=2)) == STANDARD.used(LAST)


def test_a_loss_that_is_not_finite_stops_with_the_place() -> None:
    exploding = submitted(lambda model, batch, labels, rng: model(batch).logits.sum() * float("nan"))
    model = fresh(tiny())
    with pytest.raises(FaithboardError, match=r"nan in epoch 1, step 1, at learning rate 0\.01"):
        train(model, tiny(), QUICK, 0, exploding)
    assert not model.training


@pytest.mark.parametrize(
    ("procedure", "found"),
    [
        (lambda model, batch, labels, rng: model(batch).logits, r"shape \(16, 1\)"),
        (lambda model, batch, labels, rng: model(batch).logits.sum().detach(), r"shape \(\)"),
        (lambda model, batch, labels, rng: 1.0, "a float"),
    ],
)
def test_a_procedure_that_gives_no_loss_is_told_the_rule(procedure: Procedure, found: str) -> None:
    with pytest.raises(ContractError, match=f"training submitted: the loss of a batch must be a scalar.*{found}"):
        train(fresh(tiny()), tiny(), replace(QUICK, procedure="submitted"), 0, submitted(procedure))


def test_a_procedure_brings_its_own_loss_and_randomness() -> None:
    draws: list[Mapping[str, float]] = []

    def loss(model: Classifier, batch: Batch, labels: Tensor, rng: Rng) -> Tensor:
        assert model.training
        draws.append(dict(zip(batch.example_id, rng.uniform().tolist(), strict=True)))
        return model(batch).logits.square().sum()

    def drawn(batch_size: int) -> list[float]:
        draws.clear()
        train(fresh(tiny()), tiny(), replace(QUICK, epochs=2, batch_size=batch_size), 0, submitted(loss))
        half = len(draws) // 2
        return [next(d[name] for d in part if name in d) for part in (draws[:half], draws[half:]) for name in names]

    names = [example.id for example in tiny().splits["train"]]
    assert drawn(16) == drawn(64)
    assert len(set(drawn(16))) == 2 * len(names)


def test_only_classification_spares_the_attention_from_weight_decay() -> None:
    def decays(data: TaskData) -> dict[str, float]:
        model = fresh(data)
        names = {id(parameter): name for name, parameter in model.named_parameters()}
        groups = loop._optimiser(model, data.task, QUICK).param_groups
        return {names[id(value)]: group["weight_decay"] for group in groups for value in group["params"]}

    single, pair = decays(tiny()), decays(tiny(PAIR))
    assert {name for name, decay in single.items() if decay == 0} == {n for n in single if n.startswith("attention.")}
    assert set(pair.values()) == {QUICK.weight_decay}
    assert len(single) == len(dict(fresh(tiny()).named_parameters()))


@pytest.mark.parametrize("split", ["train", "dev"])
def test_an_empty_split_is_refused(split: str) -> None:
    data = tiny()
    with pytest.raises(DataError, match=f"the {split} split is empty"):
        train(fresh(data), replace(data, splits={**data.splits, split: []}), QUICK, 0)


def test_a_dev_split_of_one_class_cannot_select_by_roc() -> None:
    data = tiny()
    cold = [example for example in data.splits["dev"] if example.label == 0]
    with pytest.raises(DataError, match="one class alone"):
        train(fresh(data), replace(data, splits={**data.splits, "dev": cold}), QUICK, 0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss_reduction": "max"}, "loss_reduction must be one of sum, mean"),
        ({"select": "loss"}, "select must be one of roc-auc, accuracy, last"),
        ({"precision": "float16"}, "precision must be one of float32, bfloat16"),
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"batch_size": 0}, "batch_size"),
        ({"patience": 0}, "patience"),
        ({"train_examples": 0}, "train_examples must be at least 1"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0"),
        ({"weight_decay": -1e-5}, "weight_decay must be at least 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SuiteError, match=message):
        check_training(replace(QUICK, **settings), TASK, STANDARD)


def test_a_training_that_is_not_built_in_must_be_given() -> None:
    with pytest.raises(SuiteError, match="unknown training 'standrad'; did you mean standard"):
        train(fresh(tiny()), tiny(), replace(QUICK, procedure="standrad"), 0)


def test_roc_needs_two_classes() -> None:
    with pytest.raises(SuiteError, match="3 classes"):
        check_training(QUICK, PAIR, STANDARD)
