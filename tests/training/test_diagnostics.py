"""Where the gradient lies: by hand, and against a sort of each text on its own."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from faithboard.config import ModelConfig
from faithboard.data.collate import collate
from faithboard.data.loading import sample
from faithboard.gradients import class_gradient
from faithboard.models import build
from faithboard.training import diagnostics
from faithboard.training.diagnostics import bottom_half_mass, mean_bottom_half_mass
from tests.toy import MIXED, BagOfWords, recurrent, texts
from tests.training.test_masking import Gained
from tests.training.tiny import tiny


def test_by_hand() -> None:
    batch = texts("film good dull bad", "nice what film", "good bad | what", "dull")
    found = bottom_half_mass(Gained(), batch)
    # Gains 1 4 2 5; 3 0.5 1, of which one is the lower half; 4 5, and the query counts for nothing; a single word.
    assert found[:3].tolist() == pytest.approx([3 / 12, 0.5 / 4.5, 4 / 9])
    assert math.isnan(found[3])


def test_words_of_equal_weight_share_it_and_no_gradient_is_undefined() -> None:
    assert bottom_half_mass(BagOfWords(), texts("good film nice bad")).tolist() == [0.5]
    model = Gained()
    with torch.no_grad():
        model.gains.zero_()
    assert bottom_half_mass(model, texts("good film")).isnan().all()


def test_agrees_with_sorting_each_text() -> None:
    model, batch = recurrent(), texts(*MIXED)
    found = bottom_half_mass(model, batch)
    norms = class_gradient(model, batch).double().norm(dim=-1)
    for row in range(len(batch)):
        own = norms[row, batch.scorable[row]].sort().values
        if len(own) < 2:
            assert found[row].isnan()
        else:
            assert float(found[row]) == pytest.approx(float(own[: len(own) // 2].sum() / own.sum()), rel=1e-5)
    torch.testing.assert_close(bottom_half_mass(model, batch.padded_to(40)), found, equal_nan=True, rtol=1e-4, atol=0)


def test_the_mean_is_over_the_first_explained_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    data = tiny()
    model = build(
        ModelConfig(hidden=4), data.task, torch.randn(len(data.vocabulary), 5), data.vocabulary.specials, seed=0
    )
    monkeypatch.setattr(diagnostics, "EXAMPLES", 10)
    monkeypatch.setattr(diagnostics, "token_budget", lambda device: 30)
    first = bottom_half_mass(model, collate(sample(data, "test", 10), data.vocabulary, data.task))
    assert mean_bottom_half_mass(model, data) == pytest.approx(float(first.nanmean()), rel=1e-5)
    single = [replace(example, tokens=example.tokens[:1]) for example in data.splits["test"]]
    assert mean_bottom_half_mass(model, replace(data, splits={**data.splits, "test": single})) is None
