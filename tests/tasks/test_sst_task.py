from __future__ import annotations

import zipfile
from pathlib import Path

import pandas as pd
import pytest

from faithboard.data import load, sample
from faithboard.errors import DataError
from tasks.sst import SST

TREES = [
    f"({label} (2 Film) (2 (2 {word}) (2 (2 is) (2 (2 not) (2 (2 at) (2 home))))))"
    for label, word in [(0, "one"), (1, "two"), (2, "three"), (3, "four"), (4, "five")]
]


def publish(folder: Path) -> None:
    folder.mkdir()
    for split in ("train", "dev", "test"):
        (folder / f"{split}.txt").write_text("\n".join([*TREES, "(4 (2 Too) (4 short))"]) + "\n")


def test_root_labels_become_two_classes_and_every_row_is_counted(tmp_path: Path) -> None:
    publish(tmp_path / "sst")
    data = load(SST, cache=tmp_path, root=tmp_path)
    assert [(example.tokens[1], example.label) for example in data.splits["test"]] == [
        ("one", 0),
        ("two", 0),
        ("four", 1),
        ("five", 1),
    ]
    counts = data.counts["train"]
    assert (counts.read, counts.excluded_rule, counts.excluded_short, counts.used) == (6, 1, 1, 4)
    assert data.fingerprint_name == "unverified"


def test_the_published_archive_gives_the_same_data(tmp_path: Path) -> None:
    publish(tmp_path / "sst")
    (tmp_path / "packed").mkdir()
    with zipfile.ZipFile(tmp_path / "packed" / "trainDevTestTrees_PTB.zip", "w") as archive:
        for path in (tmp_path / "sst").iterdir():
            archive.write(path, f"trees/{path.name}")
    plain, packed = (load(SST, cache=tmp_path, root=root) for root in (tmp_path, tmp_path / "packed"))
    assert all(list(packed.splits[split]) == list(plain.splits[split]) for split in plain.splits)


def test_a_truncated_tree_names_file_and_line_and_caches_nothing(tmp_path: Path) -> None:
    publish(tmp_path / "sst")
    (tmp_path / "sst" / "dev.txt").write_text(f"{TREES[0]}\n{TREES[1][:-4]}\n")
    with pytest.raises(DataError, match=r"dev\.txt, line 2: 4 brackets that never close"):
        load(SST, cache=tmp_path, root=tmp_path)
    assert not (tmp_path / "data").exists()


def test_another_data_set_on_the_hub_is_refused_with_both_hashes(tmp_path: Path) -> None:
    for split in ("train", "validation", "test"):
        (tmp_path / "ptb" / split).mkdir(parents=True)
        pd.DataFrame({"ptb_tree": TREES}).to_parquet(tmp_path / "ptb" / split / "0000.parquet")
    with pytest.raises(DataError, match=f"{SST.fingerprints['published']}.*refused") as caught:
        load(SST, cache=tmp_path / "cache", root=tmp_path, origin="hub")
    assert "has the fingerprint" in str(caught.value)
    assert not (tmp_path / "cache").exists()


@pytest.mark.data
def test_published_counts(tmp_path: Path, data_root: Path) -> None:
    data = load(SST, cache=tmp_path, root=data_root)
    before = {split: counts.read - counts.excluded_rule for split, counts in data.counts.items()}
    assert before == SST.published_rows == {"train": 6920, "dev": 872, "test": 1821}
    assert {split: counts.read for split, counts in data.counts.items()} == {"train": 8544, "dev": 1101, "test": 2210}
    assert data.counts["train"].per_class_before == {"negative": 1092 + 2218, "positive": 2322 + 1288}
    assert data.fingerprint_name == "published"
    assert {example.label for example in sample(data, "test", 16)} == {0, 1}


@pytest.mark.data
def test_the_hub_gives_the_same_data_as_the_files(tmp_path: Path, data_root: Path) -> None:
    from faithboard.readers.files import read_lines, required

    names = {"train": "train", "dev": "validation", "test": "test"}
    for split, name in names.items():
        trees = [line for _, line in read_lines(required(data_root / "sst", [f"{split}.txt"]))]
        (tmp_path / "ptb" / name).mkdir(parents=True)
        pd.DataFrame({"ptb_tree": trees}).to_parquet(tmp_path / "ptb" / name / "0000.parquet")
    files = load(SST, cache=tmp_path / "cache", root=data_root)
    hub = load(SST, cache=tmp_path / "cache", root=tmp_path, origin="hub")
    assert (hub.origin, hub.fingerprint_name) == ("hub", "published")
    assert hub.fingerprint == files.fingerprint
    assert all(list(hub.splits[split]) == list(files.splits[split]) for split in names)
    assert hub.counts == files.counts
