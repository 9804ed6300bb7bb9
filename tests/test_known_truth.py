"""A shortcut is verified only where the model uses it, and it alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from faithboard.batch import Batch
from faithboard.classifier import Classifier, Output
from faithboard.data import TaskData
from faithboard.errors import DataError
from faithboard.known_truth import verify_shortcut
from faithboard.rules import Rules
from tests.training.tiny import tiny


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
    with pytest.raises(DataError, match="does not mark"):
        verify_shortcut(Spotter(data, {}), replace(data, splits={**data.splits, "test": blank}))


@pytest.mark.parametrize(
    ("planted", "message"),
    [
        ({"cold": ("snow",)}, "every label"),
        ({"cold": ("snow",), "warm": ("sand", "sun")}, "as many planted"),
        ({"cold": ("snow",), "warm": ("sun",)}, "not in the vocabulary: sun"),
        ({"cold": ("snow", "a"), "warm": ("sand", "b")}, "another number"),
    ],
)
def test_definitions_that_cannot_be_swapped_are_refused(planted: dict[str, tuple[str, ...]], message: str) -> None:
    data = tiny()
    with pytest.raises(DataError, match=message):
        verify_shortcut(Spotter(data, {}), replace(data, task=replace(data.task, planted=planted)))
