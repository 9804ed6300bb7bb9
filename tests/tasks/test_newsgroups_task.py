from __future__ import annotations

from pathlib import Path

import pytest

from faithboard.data import load, sample
from faithboard.errors import DataError
from faithboard.readers.files import read_texts
from faithboard.task import Task
from tasks.newsgroups import GROUPS, NEWSGROUPS, NEWSGROUPS_FULL, NEWSGROUPS_STRIPPED, OTHERS, body, convert, stripped
from tests.tasks.published import pack, write_hub, write_texts

MESSAGE = """From: someone
Subject: Re: the game

someone writes:
> What a game that was last night

I saw the whole of it from my seat, and the caf\u00e9.

--
A person
"""
MESSAGES = {
    f"20news-bydate-{split}/{group}/{number}": MESSAGE.replace("whole", word)
    for split in ("train", "test")
    for group in (*GROUPS, "sci.med")
    for number, word in enumerate(f"{split} {group} first second third fourth fifth sixth seventh eighth".split())
}


def publish(folder: Path) -> None:
    # Every message is latin-1, which is not UTF-8.
    write_texts(folder, MESSAGES, "latin-1")


@pytest.mark.parametrize(
    ("task", "has", "has_not"),
    [
        (NEWSGROUPS, ["writes", "person", "caf\u00e9"], ["subject"]),
        (NEWSGROUPS_FULL, ["subject", "writes", "person"], []),
        (NEWSGROUPS_STRIPPED, ["seat", "caf\u00e9"], ["subject", "writes", "night", "person"]),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_task_is_a_choice_of_parts(tmp_path: Path, task: Task, has: list[str], has_not: list[str]) -> None:
    publish(tmp_path / "20news")
    data = load(task, cache=tmp_path, root=tmp_path)
    assert {split: counts.per_class for split, counts in data.counts.items()} == {
        "train": {"baseball": 9, "hockey": 9},
        "dev": {"baseball": 1, "hockey": 1},
        "test": {"baseball": 10, "hockey": 10},
    }
    for example in data.splits["test"]:
        assert set(has) <= set(example.tokens)
        assert not set(has_not) & set(example.tokens)


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("Subject: x\n\ntext\n\nmore\n\nsig", "text\n\nmore"),
        ("Subject: x\n\ntext\n----\nsig\n\n", "text"),
        ("Subject: x\n\n--\nall of it", "--\nall of it"),
        ("Subject: x\n\na\nIn article <1> b writes:\n> c\n| d\ne", "a\ne"),
        ("Subject: x\n\n", ""),
        ("no empty line", ""),
    ],
)
def test_signature_and_quotations_are_stripped(message: str, kept: str) -> None:
    assert stripped(message) == kept


def test_the_published_archive_gives_the_same_data_as_its_folders(tmp_path: Path) -> None:
    publish(tmp_path / "plain" / "20news")
    pack(tmp_path / "packed" / "20news" / "20news-bydate.tar.gz", tmp_path / "plain" / "20news")
    plain, packed = (load(NEWSGROUPS, cache=tmp_path, root=tmp_path / place) for place in ("plain", "packed"))
    assert plain.fingerprint == packed.fingerprint
    assert list(plain.splits["train"]) == list(packed.splits["train"])


def test_the_hub_has_the_stripped_form(tmp_path: Path) -> None:
    publish(tmp_path / "files" / "20news")
    rows = {
        split: [
            {"text": stripped(text), "label": 0, "label_text": name.split("/")[1]}
            for name, text in reversed(MESSAGES.items())
            if name.startswith(f"20news-bydate-{split}")
        ]
        for split in ("train", "test")
    }
    write_hub(tmp_path / "hub", rows)
    files = load(NEWSGROUPS_STRIPPED, cache=tmp_path / "cache", root=tmp_path / "files")
    hub = load(NEWSGROUPS_STRIPPED, cache=tmp_path / "cache", root=tmp_path / "hub", origin="hub")
    assert hub.fingerprint == files.fingerprint
    assert list(hub.splits["train"]) == list(files.splits["train"])
    assert (hub.counts["test"].read, hub.counts["test"].excluded_rule) == (30, 10)


def test_a_group_outside_the_twenty_on_the_hub_names_its_row() -> None:
    assert len({*GROUPS, *OTHERS}) == 20
    assert all(convert("test", 4, {"text": "a", "label_text": group}) is None for group in OTHERS)
    for group in ("rec.sport", "", None, 9):
        with pytest.raises(DataError, match=rf"split test, row 4: label {group!r} is no class"):
            convert("test", 4, {"text": "a", "label_text": group})


@pytest.mark.data
@pytest.mark.parametrize("task", [NEWSGROUPS, NEWSGROUPS_FULL, NEWSGROUPS_STRIPPED], ids=lambda task: task.name)
def test_published_counts(tmp_path: Path, data_root: Path, task: Task) -> None:
    data = load(task, cache=tmp_path, root=data_root)
    before = {split: counts.per_class_before for split, counts in data.counts.items()}
    assert {label: before["train"][label] + before["dev"][label] for label in task.labels} == {
        "baseball": 597,
        "hockey": 600,
    }
    assert before["test"] == {"baseball": 397, "hockey": 399}
    assert data.fingerprint_name == "shared-subset"
    assert {example.label for example in sample(data, "test", 8)} == {0, 1}


@pytest.mark.data
def test_bodies_and_stripped_bodies_are_those_of_scikit_learn(data_root: Path) -> None:
    rules = pytest.importorskip("sklearn.datasets._twenty_newsgroups")
    empty = 0
    for split in ("train", "test"):
        for _, message in read_texts(data_root / "20news" / f"20news-bydate-{split}", "latin-1"):
            without_headers = rules.strip_newsgroup_header(message)
            assert body(message) == without_headers
            assert stripped(message) == rules.strip_newsgroup_quoting(rules.strip_newsgroup_footer(without_headers))
            empty += split == "train" and not body(message).strip()
    assert empty == 2
