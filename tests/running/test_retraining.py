"""Models are trained anew on what a method leaves: each stage on its own words, and once whatever happens meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

from faithboard import TOKEN, Background, Batch, Classifier, Example, Rng, Training, method
from faithboard.config import ModelConfig
from faithboard.data.removal import bin_size
from faithboard.errors import FaithboardError
from faithboard.plan import PlannedJob
from faithboard.running.fitting import fresh_model
from faithboard.running.rows import metric_row
from faithboard.running.weights import weights_sha256
from faithboard.stages import Stages
from faithboard.training import RANDOM_MASKING, STANDARD, train
from tests.running.retrained import (
    ALPHABET,
    IDEAL,
    TWO,
    TWO_RECURSIVE,
    Told,
    planned,
    retraining,
    trained,
)
from tests.training.tiny import tiny as data_of


@method("chance", kind="reference", signed=True, source="a test", draws=3)
def chance(model: Classifier, batch: Batch, rng: Rng) -> torch.Tensor:
    return rng.uniform(TOKEN)


def untied() -> PlannedJob:
    """The job in two epochs, on texts in which no word stands twice."""
    job = planned()
    splits = {
        name: [replace(one, tokens=tuple(dict.fromkeys(one.tokens)), rationale=None) for one in texts]
        for name, texts in job.prepared.data.splits.items()
    }
    prepared = replace(job.prepared, data=data_of(splits=splits), examples=splits["test"])
    return replace(job, prepared=prepared, training=replace(job.training, epochs=2))


def without_first_letters(example: Example, share: int) -> Example:
    """By hand: ceil(q T) words go in the order of the alphabet, planted ones last."""
    order = sorted(example.tokens, key=lambda word: (len(word) > 1, word))
    gone = order[: -(-len(order) * share // 100)]
    return replace(example, tokens=tuple(word for word in example.tokens if word not in gone))


@pytest.mark.parametrize("start", [False, True], ids=["fresh weights", "goes on from another model"])
def test_a_stage_is_an_ordinary_training_on_what_is_left(tmp_path: Path, start: bool) -> None:
    job = untied()
    if start:
        masking = replace(job.training, procedure="random-masking", init="standard")
        job = replace(job, training=masking, procedure=RANDOM_MASKING, start=job)
    stage = retraining(tmp_path, ALPHABET, job).stage((30,))
    data = job.prepared.data
    assert isinstance(job.model, ModelConfig)
    by_hand, _ = fresh_model(job.model, data, job.seed)
    splits = {name: [without_first_letters(one, 30) for one in texts] for name, texts in data.splits.items()}
    left = replace(data, splits=splits)
    if job.start is not None:
        train(by_hand, left, job.start.training, 0, STANDARD)
    train(by_hand, left, job.training, 0, job.procedure)
    assert weights_sha256(stage.weights) == weights_sha256(by_hand.state_dict())


def calls_of(folder: Path, recursive: bool) -> tuple[list[str], dict[str, dict[str, int]]]:
    """The models that a method was run on, in turn, and for each the words of every text that it was given."""
    models: list[str] = []
    lengths: dict[str, dict[str, int]] = {}

    @method("recording", kind="sensitivity", signed=True, source="a test")
    def recording(model: Classifier, batch: Batch, rng: Rng) -> torch.Tensor:
        name = weights_sha256(model.state_dict())
        if name not in models:
            models.append(name)
        lengths.setdefault(name, {}).update(zip(batch.example_id, batch.scorable_lengths.tolist(), strict=True))
        return batch.ids.float()

    retraining(folder, recording).scored(TWO_RECURSIVE if recursive else TWO)
    return models, lengths


def test_recursion_explains_what_is_left_by_the_model_that_was_trained_on_it(tmp_path: Path) -> None:
    job, model = trained()
    every = [*job.prepared.data.splits["train"], *job.prepared.data.splits["dev"], *job.prepared.examples]
    whole = {one.id: len(one.tokens) for one in every}
    models, lengths = calls_of(tmp_path / "recursive", recursive=True)
    first = retraining(tmp_path / "again", IDEAL)
    assert models[0] == weights_sha256(model.state_dict())
    assert len(models) == 2
    assert lengths[models[0]] == whole
    left = {name: length - bin_size(length, 30) for name, length in whole.items()}
    assert lengths[models[1]] == {name: length for name, length in left.items() if length >= 2}
    assert models[1] != weights_sha256(first.stage((30,)).weights)
    models, lengths = calls_of(tmp_path / "once", recursive=False)
    assert (models, lengths[models[0]]) == ([weights_sha256(model.state_dict())], whole)


def test_every_stage_removes_what_the_one_before_did_and_more(tmp_path: Path) -> None:
    own = retraining(tmp_path, chance)
    before, after = own.stage((30,)).removed, own.stage((30, 70)).removed
    assert not bool((before & ~after).any())
    every = [*trained()[0].prepared.data.splits["train"], *trained()[0].prepared.data.splits["dev"]]
    lengths = [len(one.tokens) for one in [*every, *trained()[0].prepared.examples]]
    assert [int(one.sum()) for one in after.split(lengths)] == [bin_size(length, 70) for length in lengths]


class Mortal(Stages):
    """Dies after every third write; keeps what it has written in `written`, over all its lives."""

    def __init__(self, folder: Path, written: list[tuple[str, str, int]]) -> None:
        super().__init__(folder)
        self.written = written

    def _die(self) -> None:
        if len(self.written) % 3 == 0:
            raise KeyboardInterrupt

    def save_result(self, name: str, state: Mapping[str, Any]) -> None:
        super().save_result(name, state)
        self.written.append(("result", name, 0))
        self._die()

    def save_checkpoint(self, name: str, state: Mapping[str, Any]) -> None:
        super().save_checkpoint(name, state)
        self.written.append(("epoch", name, len(state["history"])))
        self._die()

    def save_part(self, name: str, number: int, scores: pd.DataFrame) -> None:
        super().save_part(name, number, scores)
        self.written.append(("part", name, number))
        self._die()


def test_what_is_killed_again_and_again_repeats_nothing_and_ends_the_same(tmp_path: Path) -> None:
    job = replace(trained()[0], training=replace(trained()[0].training, epochs=2))
    quiet = retraining(tmp_path / "quiet", chance, job)
    expected = quiet.scored(TWO_RECURSIVE)
    written: list[tuple[str, str, int]] = []
    deaths, told = 0, Told()
    while True:
        own = replace(quiet, stages=Mortal(tmp_path / "mortal", written), progress=told)
        try:
            found = own.scored(TWO_RECURSIVE)
            break
        except KeyboardInterrupt:
            deaths += 1
    assert deaths == len(written) // 3 >= 4
    assert max(Counter(written).values()) == 1
    assert {name for kind, name, _ in written if kind == "result"} == {"30", "30-70"}
    pd.testing.assert_frame_equal(found.values, expected.values)
    for path in TWO_RECURSIVE.paths:
        ours, theirs = own.stage(path), quiet.stage(path)
        assert torch.equal(ours.removed, theirs.removed)
        assert weights_sha256(ours.weights) == weights_sha256(theirs.weights)
    assert any(": 1 of 2 stages are done already" in line for line in told.lines)
    assert not list((tmp_path / "mortal").glob("*.checkpoint"))


def test_both_forms_share_the_stage_that_is_the_same(tmp_path: Path) -> None:
    told = Told()
    own = retraining(tmp_path, IDEAL, told=told)
    first = own.scored(TWO).values["points"].tolist()
    second = own.scored(TWO_RECURSIVE).values["points"].tolist()
    assert [points[0] for points in first] == [points[0] for points in second]
    title = "two-recursive of ideal on tiny / bilstm-additive / standard / seed 0"
    assert f"{title}: 1 of 2 stages are done already" in told.lines
    assert sum("of the examples are right" in line for line in told.lines) == 3
    # Without the planted word the method says nothing of the others: they are tied, and the example counts.
    assert all(point in (0.0, 1.0) for points in second for point in points)


@pytest.mark.parametrize("ending", [".result", ".checkpoint"])
def test_what_is_damaged_is_said_and_computed_again(tmp_path: Path, ending: str) -> None:
    job = replace(trained()[0], training=replace(trained()[0].training, epochs=1))
    told = Told()
    own = retraining(tmp_path, IDEAL, job, told=told)
    expected = own.stage((30,))
    name = "30" if ending == ".result" else "30.standard"
    if ending == ".checkpoint":
        (tmp_path / "30.result").unlink()
    (tmp_path / f"{name}{ending}").write_bytes(b"half a file")
    assert weights_sha256(own.stage((30,)).weights) == weights_sha256(expected.weights)
    assert sum("is damaged (checksum)" in line for line in told.lines) == 1


def test_texts_whose_scores_give_no_order_are_undefined_and_counted(tmp_path: Path) -> None:
    @method("constant", kind="reference", signed=True, source="a test")
    def constant(model: Classifier, batch: Batch, rng: Rng) -> torch.Tensor:
        return torch.ones(batch.ids.shape)

    told = Told()
    found = retraining(tmp_path, constant, told=told).scored(TWO)
    row = metric_row("key", TWO, found, 0)
    assert (row.value, row.n, row.undefined, row.points) == (None, 40, 40, ["30%", "70%"])
    assert any("the scores of 200 of 200 texts give no order, a random one stands in" in line for line in told.lines)


def test_an_example_of_one_word_is_left_out(tmp_path: Path) -> None:
    texts = [
        Example("0", ("snow", "a", "b"), (), 0),
        Example("1", ("sand", "a"), (), 1),
        Example("2", ("sand",), (), 1),
    ]
    job = planned(texts, training=replace(planned().training, epochs=1))
    found = retraining(tmp_path, IDEAL, job).scored(TWO)
    assert found.values["example"].tolist() == ["test-0", "test-1"]
    assert found.excluded == {"two": 1}


def test_a_method_is_given_the_training_texts_of_its_stage(tmp_path: Path) -> None:
    words = []

    @method("learned", kind="reference", signed=True, source="a test", needs={"background"})
    def learned(model: Classifier, batch: Batch, rng: Rng, background: Background) -> torch.Tensor:
        words.append(len(background.words))
        return batch.ids.float()

    retraining(tmp_path, learned).scored(TWO_RECURSIVE)
    lengths = [len(one.tokens) for one in trained()[0].prepared.data.splits["train"]]
    whole = sum(lengths)
    assert list(dict.fromkeys(words)) == [whole, whole - sum(bin_size(length, 30) for length in lengths)]


def test_a_loss_that_is_not_finite_names_the_stage(tmp_path: Path) -> None:
    def procedure(supervised: Any, config: Any, vocabulary: Any) -> Any:
        def loss(model: Classifier, batch: Batch, labels: torch.Tensor, rng: Rng) -> torch.Tensor:
            found: torch.Tensor = supervised(model(batch).logits, labels)
            return found * (float("nan") if int(batch.scorable_lengths.min()) == 0 else 1)

        return loss

    job = replace(trained()[0], procedure=Training("brittle", procedure, source="a test"))
    with pytest.raises(FaithboardError, match=r"training without 70 % of the words: the loss is nan in epoch 1"):
        retraining(tmp_path, IDEAL, job).scored(TWO)
