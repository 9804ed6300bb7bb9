"""The loop: it learns, keeps the best dev epoch, repeats itself to the byte, and stops where it must."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest
import torch
from torch import Tensor

from faithboard import training
from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.config import ModelConfig, TrainingConfig
from faithboard.data import TaskData
from faithboard.errors import DataError, FaithboardError, SuiteError
from faithboard.models import AttentionClassifier, build
from faithboard.performance import measure, probabilities
from faithboard.rng import Rng
from faithboard.training import check_training, loop, train
from faithboard.training.standard import CrossEntropy
from tests.training.tiny import PAIR, TASK, tiny

QUICK = TrainingConfig(epochs=3, batch_size=16, learning_rate=0.01)


def fresh(data: TaskData, seed: int = 0) -> AttentionClassifier:
    matrix = torch.randn(len(data.vocabulary), 8, generator=torch.Generator().manual_seed(seed))
    return build(ModelConfig(hidden=8), data.task, matrix, data.vocabulary.specials, seed=seed)


def weights(model: Classifier) -> bytes:
    return b"".join(value.numpy().tobytes() for value in model.state_dict().values())


def scripted(monkeypatch: pytest.MonkeyPatch, scores: list[float]) -> list[bytes]:
    """Make the dev measure follow a script; returns the weights seen at each epoch's end."""
    seen: list[bytes] = []

    def next_score(model: Classifier, *_: object) -> float:
        seen.append(weights(model))
        return scores[len(seen) - 1]

    monkeypatch.setattr(loop, "_dev_score", next_score)
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
    assert set(trained.history[0]) == {"epoch", "loss", "dev-roc-auc", "seconds"}
    assert trained.seconds >= sum(entry["seconds"] for entry in trained.history)


@pytest.mark.parametrize("task", [TASK, replace(TASK, layout="sequence")], ids=lambda task: task.layout)
def test_the_same_seed_gives_the_same_bytes(task: object) -> None:
    assert isinstance(task, type(TASK))
    data = tiny(task)
    before = torch.random.get_rng_state()
    runs = []
    for seed, noise in ((0, 1), (0, 2), (1, 1)):
        model = fresh(data)
        with torch.random.fork_rng():
            torch.manual_seed(noise)
            train(model, data, replace(QUICK, epochs=1), seed)
        runs.append(weights(model))
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
    train(fresh(data), data, replace(QUICK, epochs=1), 0)
    assert torch.equal(before, torch.random.get_rng_state())


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


def test_a_loss_that_is_not_finite_stops_with_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Exploding:
        supervised: CrossEntropy

        def __call__(self, model: Classifier, batch: Batch, labels: Tensor, rng: Rng) -> Tensor:
            return model(batch).logits.sum() * float("nan")

    monkeypatch.setattr(training, "PROCEDURES", {"exploding": Exploding})
    model = fresh(tiny())
    with pytest.raises(FaithboardError, match=r"nan in epoch 1, step 1, at learning rate 0\.01"):
        train(model, tiny(), replace(QUICK, procedure="exploding"), 0)
    assert not model.training


def test_a_procedure_brings_its_own_loss_and_randomness(monkeypatch: pytest.MonkeyPatch) -> None:
    draws: list[Mapping[str, float]] = []

    @dataclass(frozen=True)
    class Noisy:
        supervised: CrossEntropy

        def __call__(self, model: Classifier, batch: Batch, labels: Tensor, rng: Rng) -> Tensor:
            assert model.training
            draws.append(dict(zip(batch.example_id, rng.uniform().tolist(), strict=True)))
            return self.supervised(model(batch).logits, labels)

    monkeypatch.setattr(training, "PROCEDURES", {"noisy": Noisy})
    settings = replace(QUICK, procedure="noisy", epochs=2)

    def drawn(batch_size: int) -> list[float]:
        draws.clear()
        train(fresh(tiny()), tiny(), replace(settings, batch_size=batch_size), 0)
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
        ({"procedure": "standrad"}, "did you mean standard"),
        ({"loss_reduction": "max"}, "loss_reduction"),
        ({"select": "loss"}, "select must be"),
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"batch_size": 0}, "batch_size"),
        ({"patience": 0}, "patience"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(SuiteError, match=message):
        check_training(replace(QUICK, **settings), TASK)  # type: ignore[arg-type]


def test_roc_needs_two_classes() -> None:
    with pytest.raises(SuiteError, match="3 classes"):
        check_training(QUICK, PAIR)
