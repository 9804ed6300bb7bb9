from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from faithboard.data import load, sample
from faithboard.data.fingerprint import Fingerprint
from faithboard.data.text import words_of
from faithboard.task import SPLITS, Task
from tasks.babi import BABI_1, BABI_2, BABI_3
from tasks.planted import NEGATION, ORDER, PAIR, PLANTED, SIZES


def generated_fingerprint(task: Task) -> str:
    assert task.generate is not None
    fingerprint = Fingerprint()
    for split in SPLITS:
        for record in task.generate(split):
            fingerprint.add(split, words_of(record, task.text), record.label)
    return fingerprint.hexdigest()


@pytest.mark.parametrize("task", [BABI_1, BABI_2, BABI_3, PLANTED, PAIR, ORDER, NEGATION], ids=lambda task: task.name)
def test_generated_data_is_what_its_fingerprint_says(task: Task) -> None:
    # A change of the generator is a new version of the task: raise it, and register the new fingerprint.
    assert generated_fingerprint(task) == task.fingerprints["generated"]


def test_babi_1_is_generated_with_a_dev_tenth_of_its_training_stories(tmp_path: Path) -> None:
    data = load(BABI_1, cache=tmp_path)
    assert {split: len(examples) for split, examples in data.splits.items()} == {
        "train": 9000,
        "dev": 1000,
        "test": 1000,
    }
    assert (data.origin, data.fingerprint_name) == ("generated", "generated")
    example = sample(data, "test", 1)[0]
    assert example.rationale is not None
    marked = [token for token, flag in zip(example.tokens, example.rationale, strict=True) if flag]
    assert marked.count(".") == 1
    assert marked[-2:] == [BABI_1.labels[example.label], "."]
    assert example.query[-1] == "?"
    assert len(data.vocabulary) == 26
    assert {example.label for example in sample(data, "test", 64)} == set(range(6))


def test_planted_words_decide_and_are_in_the_vocabulary(tmp_path: Path) -> None:
    data = load(PLANTED, cache=tmp_path)
    assert {split: len(examples) for split, examples in data.splits.items()} == SIZES
    for label, (word,) in PLANTED.planted.items():
        assert data.vocabulary.id(word) != data.vocabulary.specials.unk
        for example in data.splits["test"]:
            assert (word in example.tokens) == (PLANTED.labels[example.label] == label)


@pytest.mark.data
@pytest.mark.parametrize(
    ("task", "name", "rows"),
    [
        (BABI_1, "published", {"train": 9000, "dev": 1000, "test": 1000}),
        (BABI_2, "published", {"train": 9000, "dev": 1000, "test": 1000}),
        (BABI_3, "published-1k", {"train": 900, "dev": 100, "test": 1000}),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_published_files(tmp_path: Path, data_root: Path, task: Task, name: str, rows: dict[str, int]) -> None:
    data = load(task, cache=tmp_path, root=data_root)
    assert (data.origin, data.fingerprint_name) == ("files", name)
    assert {split: counts.used for split, counts in data.counts.items()} == rows
    assert all(sum(example.rationale or ()) >= 5 for example in data.splits["test"])


@pytest.mark.data
def test_the_release_of_1000_questions_is_taken_where_the_larger_one_is_missing(
    tmp_path: Path, data_root: Path
) -> None:
    (tmp_path / "tasks_1-20_v1-2").mkdir()
    (tmp_path / "tasks_1-20_v1-2" / "en").symlink_to(data_root / "babi" / "tasks_1-20_v1-2" / "en")
    data = load(BABI_1, cache=tmp_path / "cache", root=tmp_path)
    assert data.fingerprint_name == "published-1k"
    assert len(data.splits["train"]) == 900


def test_the_hub_has_the_same_questions_without_supporting_facts(tmp_path: Path) -> None:
    ours = load(BABI_1, cache=tmp_path / "ours", origin="generated")
    for split, name in (("train", "train"), ("dev", "validation"), ("test", "test")):
        rows = [
            {
                "passage": " ".join(example.tokens).replace(" .", ".\n").replace("\n ", "\n"),
                "question": " ".join(example.query).replace(" ?", "?"),
                "answer": BABI_1.labels[example.label],
                "task": 1,
            }
            for example in list(ours.splits[split])[:60]
        ]
        other = {"passage": "Lily is a frog.\n", "question": "What color is Lily?", "answer": "green", "task": 16}
        (tmp_path / "babi" / name).mkdir(parents=True)
        pd.DataFrame([other, *rows]).to_parquet(tmp_path / "babi" / name / "0000.parquet")
    theirs = load(BABI_1, cache=tmp_path / "theirs", root=tmp_path, origin="hub")
    assert theirs.fingerprint_name == "unverified"
    assert theirs.counts["test"].excluded_rule == 1
    for mine, one in zip(ours.splits["test"], theirs.splits["test"], strict=False):
        assert (one.tokens, one.query, one.label, one.rationale) == (mine.tokens, mine.query, mine.label, None)
    assert any("no supporting facts" in line for line in BABI_1.differences)
