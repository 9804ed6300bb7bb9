"""The family of planted tasks: the same truth in generated text and in real sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from faithboard.data import TaskData, load
from faithboard.errors import DataError
from faithboard.task import Task
from tasks.planted import NEGATION, ORDER, PAIR, PLANTED
from tasks.planted_sst import PLANTED_SST, PLANTED_SST_NEGATION, PLANTED_SST_ORDER, PLANTED_SST_PAIR, SIZES
from tests.generators import rules

GENERATED = (PAIR, ORDER, NEGATION)
REAL = (PLANTED_SST, PLANTED_SST_PAIR, PLANTED_SST_ORDER, PLANTED_SST_NEGATION)
TREES = [f"({label} (2 Film) (2 (2 number{at}) (2 (2 is) (2 long))))" for at, label in enumerate((0, 1, 2, 3, 4) * 12)]


LABELS = ("north", "south")
WORDS = {"north": "aurora", "south": "basalt"}
RULES = {
    "planted": rules.one_word(WORDS),
    "planted-pair": rules.same_place(LABELS, ("ember", "frost"), ("lagoon", "meadow")),
    "planted-order": rules.first_comes(LABELS, ("cedar", "willow")),
    "planted-negation": rules.in_context(WORDS, "nix"),
    "planted-sst": rules.one_word(WORDS),
    "planted-sst-pair": rules.same_place(LABELS, ("ember", "osprey"), ("heron", "meadow")),
    "planted-sst-order": rules.first_comes(LABELS, ("juniper", "walnut")),
    "planted-sst-negation": rules.in_context(WORDS, "nix"),
}


def publish(folder: Path, trees: list[str] = TREES) -> None:
    folder.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        (folder / f"{split}.txt").write_text("\n".join(trees) + "\n")


def marked(data: TaskData, split: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for example in data.splits[split]:
        flags = example.rationale or (False,) * len(example.tokens)
        words = tuple(word for word, flag in zip(example.tokens, flags, strict=True) if flag)
        yield data.task.labels[example.label], words


def unknown(data: TaskData) -> set[str]:
    """Words of the task's plantings that are not in the vocabulary."""
    words = {word for planted, swaps in data.task.swaps.items() for own in (planted, *swaps) for word in own if word}
    return {word for word in words if data.vocabulary.id(word) == data.vocabulary.specials.unk}


def test_they_are_one_family() -> None:
    assert {task.family for task in (PLANTED, *GENERATED, *REAL)} == {"planted"}
    assert {task.rationale for task in (PLANTED, *GENERATED, *REAL)} == {"planted"}
    assert len({task.name for task in (PLANTED, *GENERATED, *REAL)}) == 8


@pytest.mark.parametrize("task", GENERATED, ids=lambda task: task.name)
def test_every_text_has_a_planting_of_the_task_and_the_words_are_known(task: Task, tmp_path: Path) -> None:
    data = load(task, cache=tmp_path)
    assert data.fingerprint_name == "generated"
    assert not unknown(data)
    for label, words in marked(data, "test"):
        assert words in task.swaps
        assert label not in task.swaps[words].values()
    assert all((label == "neither") == (not words) for label, words in marked(data, "dev"))


@pytest.mark.parametrize("task", REAL, ids=lambda task: task.name)
def test_real_sentences_keep_their_words_and_lose_their_label(task: Task, tmp_path: Path) -> None:
    publish(tmp_path / "sst")
    data = load(task, cache=tmp_path, root=tmp_path)
    planted = {word for words, swaps in task.swaps.items() for own in (words, *swaps) for word in own}
    for at, example in enumerate(data.splits["test"]):
        assert [word for word in example.tokens if word not in planted] == ["film", "qqq", "is", "long"]
        assert example.id == f"test-{at}"
    assert all(words in task.swaps for _, words in marked(data, "test"))
    assert set(Counter(label for label, _ in marked(data, "train"))) == {"north", "south", "neither"}
    # Every label of sentiment is there, and the neutral ones are no less planted.
    assert data.counts["train"].used == len(TREES)


@pytest.mark.parametrize("task", [PLANTED, *GENERATED, *REAL], ids=lambda task: task.name)
def test_what_is_not_marked_decides_nothing_whatever_is_deleted(task: Task, tmp_path: Path) -> None:
    publish(tmp_path / "sst", TREES * 6)
    data = load(task, cache=tmp_path, root=tmp_path)
    rule = RULES[task.name]
    for example in list(data.splits["test"])[:300]:
        label = task.labels[example.label]
        assert rule(example.tokens) == label
        for left in rules.with_unmarked_words_deleted(example.tokens, example.rationale or ()):
            assert rule(left) == label, (example, left)


@pytest.mark.parametrize("task", [NEGATION, PLANTED_SST_NEGATION], ids=lambda task: task.name)
def test_that_a_negation_is_there_does_not_tell_the_class(task: Task, tmp_path: Path) -> None:
    publish(tmp_path / "sst", TREES * 6)
    data = load(task, cache=tmp_path, root=tmp_path)
    rule = rules.one_word(WORDS)
    negated = [example for example in data.splits["test"] if "nix" in example.tokens]
    turned = sum(rule(example.tokens) != task.labels[example.label] for example in negated)
    assert 0.55 < turned / len(negated) < 0.78  # two of three: half of the texts are turned, a quarter has a stray one


def test_a_sentence_is_planted_alike_from_the_hub(tmp_path: Path) -> None:
    publish(tmp_path / "files" / "sst")
    for split in ("train", "validation", "test"):
        (tmp_path / "hub" / "ptb" / split).mkdir(parents=True)
        pd.DataFrame({"ptb_tree": TREES}).to_parquet(tmp_path / "hub" / "ptb" / split / "0000.parquet")
    task = PLANTED_SST_PAIR
    files = load(task, cache=tmp_path, root=tmp_path / "files")
    assert files.counts["train"].excluded_rule == 0
    with pytest.raises(DataError, match=files.fingerprint):
        load(task, cache=tmp_path, root=tmp_path / "hub", origin="hub")


def test_only_the_first_sentences_are_used(tmp_path: Path) -> None:
    publish(tmp_path / "sst", TREES * 10)
    data = load(PLANTED_SST, cache=tmp_path, root=tmp_path)
    assert len(data.splits["dev"]) == SIZES["dev"] == 400
    assert len(data.splits["train"]) == 600


@pytest.mark.data
@pytest.mark.parametrize("task", REAL, ids=lambda task: task.name)
def test_published_sentences(task: Task, tmp_path: Path, data_root: Path) -> None:
    data = load(task, cache=tmp_path, root=data_root)
    assert data.fingerprint_name == "published"
    assert {split: counts.used for split, counts in data.counts.items()} == SIZES
    assert not unknown(data)
