"""The training texts as a method sees them: words, document frequencies, draws; labels of nothing that is explained."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from faithboard import TOKEN, Background, Batch, Classifier, ContractError, Rng, method
from faithboard.data import load
from tests.tiny import TINY
from tests.toy import BagOfWords, background, texts


@method("needs-background", kind="reference", signed=False, source="a test", needs={"background"})
def needs_background(model: Classifier, batch: Batch, rng: Rng, background: Background) -> torch.Tensor:
    return background.drawn(rng).float()


def test_a_word_counts_once_per_text() -> None:
    found = background("good film", "film film bad | what").document_frequency
    film, good, what = (int(texts(word).ids[0, 1]) for word in ("film", "good", "what"))
    assert (int(found[film]), int(found[good]), int(found[what])) == (2, 1, 0)
    assert int(found.sum()) == 4


def test_words_are_drawn_as_often_as_they_stand_there() -> None:
    batch = texts("what " * 2000)
    drawn = background("good film film film").drawn(Rng(0, batch))[batch.scorable]
    film, good = (int(texts(word).ids[0, 1]) for word in ("film", "good"))
    assert set(drawn.tolist()) == {film, good}
    assert abs(float((drawn == film).float().mean()) - 0.75) < 0.04


def test_the_words_of_a_task_are_those_of_its_training_texts(tmp_path: Path) -> None:
    data = load(TINY, cache=tmp_path)
    found = Background.of(data)
    assert len(found.words) == sum(len(example.tokens) for example in data.splits["train"])
    assert [data.vocabulary.words[i] for i in found.words[:3].tolist()] == list(data.splits["train"][0].tokens[:3])
    assert found.labels.tolist() == [example.label for example in data.splits["train"]]
    assert len(found.document_frequency) == len(data.vocabulary)
    assert (found.text[1:] >= found.text[:-1]).all()


def test_a_method_that_needs_it_says_so_when_called_without() -> None:
    batch = texts("good film")
    with pytest.raises(ContractError, match=r"needs a background: call method\.given"):
        needs_background(BagOfWords(), batch, Rng(0, batch))
    given = needs_background.given(background("good film"))
    assert given.needs == frozenset()
    assert given.given(background("bad")) is given
    assert given(BagOfWords(), batch, Rng(0, batch)).scores.shape == batch.ids.shape


def test_a_function_without_the_fourth_argument_is_refused() -> None:
    with pytest.raises(ContractError, match=r"takes \(model, batch, rng, background\)"):

        @method("three", kind="reference", signed=False, source="a test", needs={"background"})
        def three(model: Classifier, batch: Batch, rng: Rng) -> torch.Tensor:
            return rng.uniform(TOKEN)
