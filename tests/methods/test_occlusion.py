"""Occlusion: by hand, against one word of one text at a time, and against Captum."""

from __future__ import annotations

import math

import pytest
import torch
from captum.attr import Occlusion
from torch import Tensor

from faithboard import Batch, Classifier, Rng, predict
from faithboard.classifier import count_steps
from tests.toy import MIXED, SEVERAL, SPECIALS, BagOfWords, methods_of, recurrent, texts

METHODS = methods_of("occlusion.py")


def scores_of(name: str, model: Classifier, batch: Batch) -> Tensor:
    return METHODS[name](model, batch, Rng(0, batch)).scores


def logistic(z: float) -> float:
    return 1 / (1 + math.exp(-z))


def test_by_hand() -> None:
    model = BagOfWords()
    with torch.no_grad():
        model.table.weight[SPECIALS.unk] = 0.5
    batch = texts("good nice dull | bad", "bad")
    by_unk, by_zero = (scores_of(name, model, batch) for name in ("occlusion-unk", "occlusion-zero"))
    # z = 2 with `bad` in the query = 0, a tie that class 0 wins; a word's weight gives way to 0.5, or to 0.
    assert by_zero[0, 1:4].tolist() == pytest.approx([0.5 - logistic(-z) for z in (-2, -1, 1)], abs=1e-6)
    assert by_unk[0, 1:4].tolist() == pytest.approx([0.5 - logistic(-z) for z in (-1.5, -0.5, 1.5)], abs=1e-6)
    assert by_zero[1, 1] == pytest.approx(logistic(2) - logistic(0), abs=1e-6)


def test_windows_by_hand() -> None:
    batch = texts("good nice dull bad bad", "good nice")
    scores = scores_of("occlusion-window", BagOfWords(), batch)
    # z = -2, class 0. The windows hold 2, -2 and -5.
    full = logistic(2)
    windows = [full - logistic(2 + w) for w in (2, -2, -5)]
    means = [windows[0], sum(windows[:2]) / 2, sum(windows) / 3, sum(windows[1:]) / 2, windows[2]]
    assert scores[0, 1:6].tolist() == pytest.approx(means, abs=1e-6)
    # A text shorter than a window is one window.
    assert scores[1, 1:3].tolist() == pytest.approx([logistic(3) - 0.5] * 2, abs=1e-6)


@pytest.mark.parametrize("make", [BagOfWords, recurrent, lambda: BagOfWords(SEVERAL, attends=True)])
@pytest.mark.parametrize("name", ["occlusion-unk", "occlusion-zero"])
def test_equals_replacing_one_word_at_a_time(name: str, make: type[BagOfWords]) -> None:
    model, batch = make(), texts(*MIXED)
    scores = scores_of(name, model, batch)
    for b, token in batch.scorable.nonzero().tolist():
        one = batch.rows([b])
        full = predict(model, one)[0]
        mask = torch.zeros_like(one.real)
        mask[0, token] = True
        with torch.no_grad():
            if name == "occlusion-unk":
                without = predict(model, one.replaced(mask, SPECIALS.unk))[0]
            else:
                embedded = model.embed(one).clone()
                embedded[0, token] = 0
                without = model(one, embedded=embedded).log_probabilities().exp()[0]
        assert float(scores[b, token]) == pytest.approx(float(full.max() - without[full.argmax()]), abs=1e-6)


@pytest.mark.parametrize(("name", "width"), [("occlusion-zero", 1), ("occlusion-unk", 1), ("occlusion-window", 3)])
def test_equals_captum(name: str, width: int) -> None:
    model, batch = recurrent(), texts("film good dull nice what bad good film")
    with torch.no_grad():
        embedded = model.embed(batch)
        unknown = model.embed(batch.replaced(batch.scorable, SPECIALS.unk))
    words = int(batch.scorable_lengths)
    inside = slice(1, 1 + words)
    j = int(predict(model, batch).argmax())

    def of_class(part: Tensor) -> Tensor:
        many = batch.repeat(len(part))
        whole = torch.cat(
            [embedded[:, :1].expand(len(part), -1, -1), part, embedded[:, -1:].expand(len(part), -1, -1)], 1
        )
        return model(many, embedded=whole).log_probabilities().exp()[:, j]

    with torch.no_grad():
        expected = Occlusion(of_class).attribute(
            embedded[:, inside],
            sliding_window_shapes=(width, embedded.shape[2]),
            baselines=0 if name == "occlusion-zero" else unknown[:, inside],
        )
    torch.testing.assert_close(scores_of(name, model, batch)[:, inside], expected[:, :, 0].float(), rtol=0, atol=1e-6)


def test_a_word_without_effect_gets_nothing() -> None:
    model = BagOfWords()
    batch = texts("good film bad")
    for name in ("occlusion-unk", "occlusion-zero"):
        assert float(scores_of(name, model, batch)[0, 2]) == 0.0


@pytest.mark.parametrize("name", METHODS)
def test_masks_built_in_pieces_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = BagOfWords(), texts(*MIXED)
    whole = scores_of(name, model, batch)
    monkeypatch.setitem(METHODS[name].explain.__globals__, "_MASKED", 2 * batch.ids.numel())
    with count_steps(model) as steps:
        torch.testing.assert_close(scores_of(name, model, batch), whole)
    assert steps.forward > 0
