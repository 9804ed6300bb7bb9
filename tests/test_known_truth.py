"""A shortcut is verified only where the model uses it, and it alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from faithboard.batch import Batch
from faithboard.classifier import Classifier, Output
from faithboard.data import TaskData
from faithboard.data.vocabulary import Vocabulary
from faithboard.errors import DataError
from faithboard.generators import planting
from faithboard.known_truth import verify_shortcut
from faithboard.rules import Rules
from faithboard.task import Example
from tests.generators import rules
from tests.training.tiny import TASK, tiny


class Spotter(Classifier):
    """Adds up a weight per word; `spots` gives it, every other word has none."""

    def __init__(self, data: TaskData, spots: dict[str, float], bias: float = 0.0) -> None:
        super().__init__()
        table = torch.zeros(len(data.vocabulary), 1)
        for word, weight in spots.items():
            table[data.vocabulary.id(word)] = weight
        self.embedding = nn.Embedding.from_pretrained(table)
        self.bias = bias
        self.n_classes = 2
        self.specials = data.vocabulary.specials

    def forward(
        self,
        batch: Batch,
        embedded: Tensor | None = None,
        attention: Tensor | None = None,
        detach_attention: bool = False,
        rules: Rules | None = None,
    ) -> Output:
        return Output((self.embedding(batch.ids)[:, :, 0] * batch.real).sum(1, keepdim=True) + self.bias)


def test_a_model_that_looks_at_the_planted_words_alone_is_verified() -> None:
    data = tiny()
    found = verify_shortcut(Spotter(data, {"snow": -1.0, "sand": 1.0}, bias=-0.1), data)
    cold = sum(example.label == 0 for example in data.splits["test"]) / len(data.splits["test"])
    assert found == {"accuracy": 1.0, "accuracy-without": cold, "flip-rate": 1.0, "verified": 1.0}


def test_a_model_that_looks_at_nothing_is_not_verified() -> None:
    data = tiny()
    found = verify_shortcut(Spotter(data, {}, bias=0.5), data)
    warm = sum(example.label == 1 for example in data.splits["test"]) / len(data.splits["test"])
    assert found == {"accuracy": warm, "accuracy-without": warm, "flip-rate": pytest.approx(1 - warm), "verified": 0.0}


def test_a_model_that_knows_the_class_otherwise_is_not_verified() -> None:
    data = tiny()
    told = [
        replace(
            example, tokens=(*example.tokens, ("h", "g")[example.label]), rationale=(*(example.rationale or ()), False)
        )
        for example in data.splits["test"]
    ]
    leaking = replace(data, splits={**data.splits, "test": [e for e in told if not {"g", "h"} & {*e.tokens[:-1]}]})
    found = verify_shortcut(Spotter(leaking, {"h": -1.0, "g": 1.0}), leaking)
    assert found == {"accuracy": 1.0, "accuracy-without": 1.0, "flip-rate": 0.0, "verified": 0.0}


def test_texts_must_mark_what_was_planted() -> None:
    data = tiny()
    blank = [replace(example, rationale=None) for example in data.splits["test"]]
    with pytest.raises(DataError, match="marks nothing"):
        verify_shortcut(Spotter(data, {}), replace(data, splits={**data.splits, "test": blank}))


@pytest.mark.parametrize(
    ("planted", "message"),
    [
        ({"cold": ("snow",)}, "every label"),
        ({"cold": ("snow",), "warm": ("sand", "sun")}, "needs swaps of 1 tokens"),
        ({"cold": ("snow",), "warm": ("sun",)}, "not in the vocabulary: sun"),
        ({"cold": ("snow", "a"), "warm": ("sand", "b")}, "marks snow, which is not what the task plants"),
    ],
)
def test_definitions_that_cannot_be_swapped_are_refused(planted: dict[str, tuple[str, ...]], message: str) -> None:
    data = tiny()
    with pytest.raises(DataError, match=message):
        verify_shortcut(Spotter(data, {}), replace(data, task=replace(data.task, planted=planted)))


LABELS = ("north", "south", planting.NEITHER)
WORDS = {"north": "up", "south": "down"}
PLANTINGS = {
    "pair": planting.pairs(("north", "south"), ("a", "b"), ("c", "d")),
    "order": planting.orders(("north", "south"), ("a", "c")),
    "negation": planting.negations(WORDS, "not"),
}


class Rule(Classifier):
    """Sure of the label that a rule gives to the words of a text, in their order."""

    def __init__(self, data: TaskData, rule: rules.Rule) -> None:
        super().__init__()
        self.words, self.rule = data.vocabulary.words, rule
        self.weight = nn.Parameter(torch.ones(1))
        self.n_classes, self.specials = 3, data.vocabulary.specials

    def forward(
        self,
        batch: Batch,
        embedded: Tensor | None = None,
        attention: Tensor | None = None,
        detach_attention: bool = False,
        rules: Rules | None = None,
    ) -> Output:
        texts = [[self.words[i] for i in ids[own].tolist()] for ids, own in zip(batch.ids, batch.scorable, strict=True)]
        labels = torch.tensor([LABELS.index(self.rule(text)) for text in texts])
        return Output(9 * self.weight * nn.functional.one_hot(labels, 3))


def planted_together(name: str) -> TaskData:
    task = replace(TASK, labels=LABELS, planted={}, swaps=planting.swaps_of(PLANTINGS[name]))
    texts = planting.records(f"toy-{name}", PLANTINGS[name], "test", 200)
    examples = []
    for record in texts:
        places = {at for start, end in record.rationale or () for at in range(start, end)}
        marks = tuple(at in places for at in range(len(record.text)))
        examples.append(Example(record.id, tuple(record.text), (), LABELS.index(record.label), marks))
    known = {word for example in examples for word in example.tokens}
    return replace(tiny(task, {"test": examples}), vocabulary=Vocabulary.of(sorted(known)))


TRUE_RULES = {
    "pair": rules.same_place(("north", "south"), ("a", "b"), ("c", "d")),
    "order": rules.first_comes(("north", "south"), ("a", "c")),
    "negation": rules.in_context(WORDS, "not"),
}


@pytest.mark.parametrize("name", PLANTINGS)
def test_a_model_that_follows_the_rule_is_verified(name: str) -> None:
    data = planted_together(name)
    found = verify_shortcut(Rule(data, TRUE_RULES[name]), data)
    assert found == {"accuracy": 1.0, "accuracy-without": 0.0, "flip-rate": 1.0, "verified": 1.0}


def presence_of_negation(text: Sequence[str]) -> str:
    """Right where a negation stands with its word, blind to where it stands."""
    own = [word for word in text if word in ("up", "down")]
    return planting.NEITHER if not own else "north" if (own[0] == "up") != ("not" in text) else "south"


def test_a_model_that_takes_any_negation_for_one_in_context_is_not_verified() -> None:
    data = planted_together("negation")
    found = verify_shortcut(Rule(data, presence_of_negation), data)
    assert 0.5 < found["accuracy"] < 0.9
    assert found["verified"] == 0.0


def first_without_second(text: Sequence[str]) -> str:
    """Right on every text of the task, but sure of a class when one of the two is gone."""
    return TRUE_RULES["order"](text) if {"a", "c"} <= {*text} else "north" if "a" in text else planting.NEITHER


def test_a_model_that_needs_only_one_of_the_two_is_not_verified() -> None:
    data = planted_together("order")
    found = verify_shortcut(Rule(data, first_without_second), data)
    assert found == {"accuracy": 1.0, "accuracy-without": 0.0, "flip-rate": 0.0, "verified": 0.0}


def test_swaps_must_fit_what_they_replace() -> None:
    data = planted_together("order")
    shorter = replace(data.task, swaps={("a", "c"): {("a",): "south"}})
    with pytest.raises(DataError, match="a c needs swaps of 2 tokens"):
        verify_shortcut(Rule(data, TRUE_RULES["order"]), replace(data, task=shorter))
