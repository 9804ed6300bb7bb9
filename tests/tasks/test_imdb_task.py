from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from faithboard.data import TaskData, load, sample
from faithboard.errors import DataError
from faithboard.readers.files import read_texts
from tasks.imdb import IMDB
from tests.tasks.published import pack, write_hub, write_texts

WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa")
REVIEWS = {
    f"{split}/{folder}/{number}_{rating}.txt": f"Film {word} of the {split}<br /><br />is one I did see at home."
    for split in ("train", "test")
    for folder, rating in (("neg", 1), ("pos", 9))
    for number, word in enumerate(WORDS)
}
OTHERS = {"train/unsup/0_0.txt": "A review without a label.", "train/labeledBow.feat": "1 0:9", "README": "Cite us."}


def on_the_hub(reviews: dict[str, str]) -> dict[str, list[dict[str, object]]]:
    """Rows in another order than that of the files."""
    return {
        split: [
            {"text": text, "label": int("/pos/" in name)}
            for name, text in sorted(reviews.items(), reverse=True)
            if name.startswith(split)
        ]
        for split in ("train", "test")
    }


def content(data: TaskData) -> dict[str, object]:
    return {split: {example.id: example for example in examples} for split, examples in data.splits.items()}


def test_folder_archive_and_hub_give_the_same_data(tmp_path: Path) -> None:
    write_texts(tmp_path / "plain" / "imdb" / "aclImdb", {**REVIEWS, **OTHERS})
    pack(tmp_path / "packed" / "imdb" / "aclImdb_v1.tar.gz", tmp_path / "plain" / "imdb")
    write_hub(tmp_path / "hub" / "plain_text", on_the_hub(REVIEWS))
    plain, packed = (load(IMDB, cache=tmp_path / "cache", root=tmp_path / place) for place in ("plain", "packed"))
    hub = load(IMDB, cache=tmp_path / "cache", root=tmp_path / "hub", origin="hub")
    assert plain.fingerprint == packed.fingerprint == hub.fingerprint
    assert content(plain) == content(packed) == content(hub)
    # What is trained on comes in the same order too.
    assert list(plain.splits["train"]) == list(packed.splits["train"]) == list(hub.splits["train"])
    assert {split: counts.per_class for split, counts in plain.counts.items()} == {
        "train": {"negative": 9, "positive": 9},
        "dev": {"negative": 1, "positive": 1},
        "test": {"negative": 10, "positive": 10},
    }
    assert plain.splits["test"][0].tokens[4:7] == ("test", "is", "one")


def test_another_data_set_on_the_hub_is_refused(tmp_path: Path) -> None:
    write_hub(tmp_path, on_the_hub(REVIEWS))
    known = replace(IMDB, fingerprints={"published": "0" * 64})
    with pytest.raises(DataError, match="refused"):
        load(known, cache=tmp_path / "cache", root=tmp_path, origin="hub")


def test_a_class_outside_the_two_on_the_hub_is_an_error(tmp_path: Path) -> None:
    rows = [{"text": f"review number {label} of a film", "label": label} for label in (0, 1, -1)]
    write_hub(tmp_path, {"train": rows, "test": rows})
    with pytest.raises(DataError, match="split train, row 2: label -1 is no class"):
        load(IMDB, cache=tmp_path / "cache", root=tmp_path, origin="hub")


def test_a_damaged_archive_is_one_error_and_caches_nothing(tmp_path: Path) -> None:
    write_texts(tmp_path / "plain" / "aclImdb", REVIEWS)
    pack(tmp_path / "imdb" / "aclImdb_v1.tar.gz", tmp_path / "plain")
    whole = (tmp_path / "imdb" / "aclImdb_v1.tar.gz").read_bytes()
    (tmp_path / "imdb" / "aclImdb_v1.tar.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"damaged archive .*aclImdb_v1\.tar\.gz"):
        load(IMDB, cache=tmp_path / "cache", root=tmp_path)
    assert not (tmp_path / "cache").exists()


def test_missing_files_name_folder_and_archive(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"aclImdb or aclImdb_v1\.tar\.gz") as caught:
        load(IMDB, cache=tmp_path, root=tmp_path)
    assert IMDB.source.url in str(caught.value)


@pytest.mark.data
def test_the_hub_gives_the_same_data_as_real_files(tmp_path: Path, data_root: Path) -> None:
    reviews = dict(read_texts(data_root / "imdb" / "sample" / "aclImdb"))
    write_hub(tmp_path / "hub", on_the_hub(reviews))
    files = load(IMDB, cache=tmp_path / "cache", root=data_root / "imdb" / "sample")
    hub = load(IMDB, cache=tmp_path / "cache", root=tmp_path / "hub", origin="hub")
    assert files.fingerprint == hub.fingerprint
    assert list(files.splits["train"]) == list(hub.splits["train"])


@pytest.mark.data
@pytest.mark.slow
def test_published_counts(tmp_path: Path, data_root: Path) -> None:
    data = load(IMDB, cache=tmp_path, root=data_root)
    before = {split: counts.per_class_before for split, counts in data.counts.items()}
    assert before == {
        "train": {"negative": 11_250, "positive": 11_250},
        "dev": {"negative": 1_250, "positive": 1_250},
        "test": {"negative": 12_500, "positive": 12_500},
    }
    assert data.fingerprint_name == "shared-subset"
    assert {example.label for example in sample(data, "test", 8)} == {0, 1}
    assert all(6 < len(example.tokens) < 400 for examples in data.splits.values() for example in examples)
