from __future__ import annotations

from pathlib import Path

import pytest

from faithboard.data import load
from faithboard.data.collate import collate
from faithboard.errors import DataError
from tasks.cnn import CNN, FILES
from tests.tasks.published import pack, write_texts

FILE = """http://example.org

@entity3 met @entity12 in 2015 , said @entity3 's aide

who met @placeholder and @entity9 ?

@entity12

@entity3:Bob
"""
PLACES = {"train": "training", "dev": "validation", "test": "test"}


def publish(folder: Path, file: str = FILE) -> None:
    write_texts(folder, {f"{place}/{split}.question": file for split, place in PLACES.items()})


def test_entities_of_the_passage_are_the_candidates_and_stay_words(tmp_path: Path) -> None:
    publish(tmp_path / "cnn-qa" / "questions")
    data = load(CNN, cache=tmp_path, root=tmp_path)
    (example,) = data.splits["test"]
    assert example.tokens[:5] == ("@entity3", "met", "@entity12", "in", "2015")
    assert example.query[2] == "@placeholder"
    assert CNN.labels[example.label] == "@entity12"
    assert [CNN.labels[at] for at in example.candidates or ()] == ["@entity3", "@entity12"]
    # Other words are too rare; entities are kept, of the question as well.
    assert set(data.vocabulary.words[5:]) == {"@entity3", "@entity9", "@entity12"}
    candidates = collate([example], data.vocabulary, CNN).candidates
    assert candidates is not None
    assert candidates[0].nonzero()[:, 0].tolist() == [3, 12]


def test_the_published_archive_gives_the_same_data(tmp_path: Path) -> None:
    publish(tmp_path / "plain" / "cnn-qa" / "questions")
    publish(tmp_path / "unpacked" / "cnn" / "questions")
    pack(tmp_path / "packed" / "cnn-qa" / "cnn.tgz", tmp_path / "unpacked")
    plain, packed = (load(CNN, cache=tmp_path, root=tmp_path / place) for place in ("plain", "packed"))
    assert plain.fingerprint == packed.fingerprint
    assert list(plain.splits["test"]) == list(packed.splits["test"])


def test_an_answer_outside_the_passage_is_dropped_by_rule(tmp_path: Path) -> None:
    publish(tmp_path / "cnn-qa" / "questions")
    write_texts(tmp_path / "cnn-qa/questions/test", {"x.question": FILE.replace("\n@entity12\n", "\n@entity9\n")})
    counts = load(CNN, cache=tmp_path, root=tmp_path).counts["test"]
    assert (counts.read, counts.excluded_rule, counts.used) == (2, 1, 1)


def test_an_entity_beyond_the_labels_is_an_error(tmp_path: Path) -> None:
    publish(tmp_path / "cnn-qa" / "questions", FILE.replace("@entity12", "@entity600"))
    with pytest.raises(DataError, match=r"record train-train: label '@entity600'"):
        load(CNN, cache=tmp_path, root=tmp_path)


@pytest.mark.data
def test_counts_of_real_questions(tmp_path: Path, data_root: Path) -> None:
    data = load(CNN, cache=tmp_path, root=data_root)
    assert {split: counts.used for split, counts in data.counts.items()} == {"train": 150, "dev": 25, "test": 30}
    assert all(counts.read == counts.used for counts in data.counts.values())
    assert all(example.label in (example.candidates or ()) for example in data.splits["train"])
    assert all("@placeholder" in example.query for example in data.splits["test"])
    assert data.fingerprint_name == "shared-subset"
    assert set(FILES) == set(data.splits)
