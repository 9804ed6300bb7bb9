"""Texts of a person's own become examples by the rules of the task."""

from __future__ import annotations

import dataclasses
import importlib.metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from faithboard import TextRules, suites
from faithboard.data import load
from faithboard.errors import ContractError, DataError, StoreError, SuiteError
from faithboard.records import ModelRecord
from faithboard.resolve import resolve
from faithboard.session import Place
from faithboard.store import Store
from faithboard.stored_models import Own, loaded, stored_model
from faithboard.texts import ask, changed, named, worded
from tests import tiny

TASK = f"{tiny.TASK_FILE}:TINY"
METHODS = ["random", "gradient-l2"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The tiny suite run into a folder; tests only read it."""
    where = tiny.place(tmp_path_factory.mktemp("texts"))
    tiny.carried_out(tiny.SUITE, where)
    return where


def test_a_text_follows_the_word_rules_of_the_task() -> None:
    example = worded(tiny.TINY, "An AURORA, at 10 pm!")
    assert example.tokens == ("an", "aurora", ",", "at", "qqq", "pm", "!")
    assert example.query == ()
    assert worded(tiny.TINY, ["10", "pm!"]).tokens == ("qqq", "pm!")


def test_what_the_rules_change_beyond_case_is_said_once() -> None:
    assert changed(tiny.TINY, "An AURORA at 10 , w12 and 10") == (("10", "qqq"), ("w12", "qqq"))


def test_a_text_is_cut_at_the_limit_of_the_task_and_says_so() -> None:
    short = dataclasses.replace(tiny.TINY, text=TextRules(max_tokens=2))
    example = worded(short, "one two three four")
    assert (example.tokens, example.truncated) == (("one", "two"), 2)


def test_the_name_of_a_text_is_its_content() -> None:
    assert worded(tiny.TINY, "aurora").id == worded(tiny.TINY, "aurora").id
    assert worded(tiny.TINY, "aurora").id != worded(tiny.TINY, "basalt").id


def test_texts_that_make_no_sense_are_refused() -> None:
    pair = dataclasses.replace(tiny.TINY, layout="pair")
    assert worded(pair, "aurora", "what is it").query == ("what", "is", "it")
    with pytest.raises(DataError, match="no word in the text"):
        worded(tiny.TINY, "  ")
    with pytest.raises(DataError, match="has no query"):
        worded(tiny.TINY, "aurora", "what")
    with pytest.raises(DataError, match="needs a query"):
        worded(pair, "aurora")


def test_examples_have_the_scores_of_the_run(place: Place) -> None:
    stored = {one.method: place.store.scores(one.key) for one in place.store.explanations()}
    chosen = stored["random"]["example"].unique()[:3].tolist()
    answer = ask(place, TASK, METHODS, examples=chosen)
    for text in answer.texts:
        assert text.gold in tiny.WORDS
        assert [word.text for word in text.words if word.rationale] == [tiny.WORDS[text.gold]]
        for said in text.methods:
            own = stored[said.method]
            mean = np.mean(np.stack(list(own[own["example"] == text.example]["scores"])), axis=0)
            assert said.scores == pytest.approx(mean.tolist(), rel=1e-4, abs=1e-7)


def test_a_text_of_ones_own_is_explained_and_unknown_words_are_said(place: Place) -> None:
    (text,) = ask(place, TASK, METHODS, texts=["aurora zzzz"]).texts
    assert text.gold is None
    assert text.predicted == "north"
    assert [(word.text, word.known) for word in text.words] == [("aurora", True), ("zzzz", False)]
    gradient = next(said for said in text.methods if said.method == "gradient-l2")
    assert gradient.scores is not None
    assert len(gradient.scores) == 2
    assert min(gradient.scores) > 0


def test_methods_that_fail_or_do_not_apply_leave_the_others_alone(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text(tiny.BROKEN)
    methods = [f"{file}:changes_the_model", f"{file}:raises", "gradient-l2-saliency-guided", "gradient-l2"]
    answer = ask(place, TASK, methods, texts=["aurora basalt"])
    changes, raises, guided, gradient = answer.texts[0].methods
    assert "KeyError" in raises.reason
    assert raises.failed
    assert (guided.scores, guided.failed) == (None, False)
    assert "explains models of saliency-guided training" in guided.reason
    (alone,) = ask(place, TASK, ["gradient-l2"], texts=["aurora basalt"]).texts
    assert gradient == alone.methods[0]
    assert changes.method == "changes-the-model"


def test_without_a_stored_model_the_command_that_trains_it_is_said(place: Place) -> None:
    with pytest.raises(SuiteError, match=r"faithboard train --tasks sst --models bilstm-additive --trainings standard"):
        ask(place, "sst", METHODS, texts=["good"])
    with pytest.raises(SuiteError, match=r"stored are bilstm-additive \(standard, seed 0\)"):
        ask(place, TASK, METHODS, texts=["good"], seed=3)
    with pytest.raises(SuiteError, match="nothing to explain"):
        ask(place, TASK, METHODS)


def test_an_unknown_example_is_told_of_near_ones(place: Place) -> None:
    with pytest.raises(SuiteError, match=r"no test example 'tset-1' \(150 there are\)"):
        ask(place, TASK, METHODS, examples=["tset-1"])


def test_no_example_of_a_private_task_is_shown(place: Place) -> None:
    data = load(tiny.TINY, cache=place.store.root)
    private = dataclasses.replace(data, task=dataclasses.replace(tiny.TINY, private=True))
    with pytest.raises(SuiteError, match="private"):
        named(private, [data.splits["test"][0].id])


def record(key: str, **changes: Any) -> ModelRecord:
    plain = ModelRecord(key, "tiny", 1, "f", "generated", "bilstm-additive", "standard", 0, {})
    return dataclasses.replace(plain, **changes)


def test_which_of_several_models_is_taken(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for one in (
        record("a", seed=1),
        record("b", provenance={"time": "2026-01-01"}),
        record("c", provenance={"time": "2026-01-02"}),
        record("d", provenance={"time": "2026-01-03"}, status="failed"),
        record("e", model="cnn-dot"),
        record("f", task="other", model="cnn-dot"),
    ):
        store.save_model(one, None)
    assert stored_model(store, "tiny").key == "c"
    assert stored_model(store, "tiny", seed=1).key == "a"
    assert stored_model(store, "tiny", "cnn-dot").key == "e"
    assert stored_model(store, "other").key == "f"
    with pytest.raises(SuiteError, match="train it") as caught:
        stored_model(store, "tiny", seed=3)
    assert str(caught.value).count("--seeds") == 1


def test_a_model_of_ones_own_is_that_of_its_file(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for key, content in (("a", "one"), ("b", "two")):
        store.save_model(record(key, model="bag", config={"own_model": content}, provenance={"time": key}), None)
    assert stored_model(store, "tiny", own=Own("bag", "one", "bag.py:bag")).key == "a"
    with pytest.raises(SuiteError, match=r"another content of bag\.py; run again: .* --models bag\.py:bag "):
        stored_model(store, "tiny", own=Own("bag", "three", "bag.py:bag"))
    with pytest.raises(SuiteError, match=r"no trained net model of tiny.* --models net\.py:net "):
        stored_model(store, "tiny", own=Own("net", "one", "net.py:net"))


def test_other_data_and_other_weights_are_refused(place: Place) -> None:
    data = load(tiny.TINY, cache=place.store.root)
    own = stored_model(place.store, "tiny")
    with pytest.raises(SuiteError, match="trained on other data"):
        loaded(dataclasses.replace(own, fingerprint="0" * 64), data, place.store, place.device)
    with pytest.raises(StoreError, match="not those of its record"):
        loaded(dataclasses.replace(own, weights_sha256="0" * 64), data, place.store, place.device)
    with pytest.raises(SuiteError, match=r"--model file\.py:attribute"):
        loaded(dataclasses.replace(own, model="mine"), data, place.store, place.device)


MODEL = """
import torch
from faithboard import Classifier, Output, model

class Bag(Classifier):
    capabilities = frozenset({"gradients"})

    def __init__(self, data):
        super().__init__()
        self.n_classes, self.specials = data.n_classes, data.specials
        self.table = torch.nn.Embedding(len(data.words), 1)
        self.encoder = Encoder()
        with torch.no_grad():
            self.table.weight.zero_()
            self.table.weight[data.words.index("basalt")] = 3.0
            self.table.weight[data.words.index("aurora")] = -3.0

    def counted(self):
        return (self.encoder,)

    def embed(self, batch):
        return self.table(batch.ids)

    def forward(self, batch, embedded=None, attention=None, detach_attention=False):
        states = self.encoder(self.embed(batch) if embedded is None else embedded, batch.real)
        return Output(states.sum(1))

class Encoder(torch.nn.Module):
    def forward(self, states, real):
        return states.masked_fill(~real[:, :, None], 0.0)

@model("bag", capabilities={"gradients"})
def bag(data):
    return Bag(data)
"""


def test_a_model_of_ones_own_explains_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, where = tmp_path / "bag_of_a_test.py", tiny.place(tmp_path / "results")
    file.write_text(MODEL)
    monkeypatch.syspath_prepend(str(tmp_path))
    point = importlib.metadata.EntryPoint("bag", "bag_of_a_test:bag", "faithboard.models")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [point] if group.endswith("models") else [])
    tiny.carried_out(suites.changed(tiny.SUITE, models=[f"{file}:bag"]), where)
    for model in (f"{file}:bag", "bag"):
        (text,) = ask(where, TASK, ["gradient-l2"], texts=["aurora zobi"], model=model).texts
        assert text.predicted == "north"
        assert text.probabilities[0] == pytest.approx(1 / (1 + 2.718281828**-3), rel=1e-4)
    data, stored = load(tiny.TINY, cache=where.store.root), stored_model(where.store, "tiny", "bag")
    file.write_text(MODEL.replace("len(data.words), 1", "len(data.words) + 1, 1"))
    with pytest.raises(SuiteError, match="another content"):
        ask(where, TASK, ["gradient-l2"], texts=["aurora zobi"], model=f"{file}:bag")
    with pytest.raises(ContractError, match="does not take the stored weights"):
        loaded(stored, data, where.store, where.device, resolve("model", f"{file}:bag").value)
