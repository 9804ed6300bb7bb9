"""The ERASER format (DeYoung et al. 2020): JSON lines of annotations, and documents as blank-separated tokens.

    {"annotation_id": "7", "query": "The film is new.", "classification": "REFUTES", "docids": ["Film"],
     "evidences": [[{"docid": "Film", "start_token": 0, "end_token": 3, "text": "An old film"}]]}

Documents are the files of a folder `docs/`, or lines `{"docid": ..., "document": ...}` of a file `docs.jsonl`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faithboard.errors import DataError
from faithboard.readers.archives import place_inside
from faithboard.readers.files import locate, read_texts, required
from faithboard.readers.tables import read_json

Tokens = tuple[str, ...]

_EVIDENCE = {"docid": str, "start_token": int, "end_token": int, "text": str}


@dataclass(frozen=True)
class Annotation:
    """One labelled query about documents, with the evidence that people marked in them."""

    label: str
    query: str
    tokens: Tokens
    """Of its documents, one after the other."""
    evidence: tuple[tuple[int, int], ...]
    """Spans [start, end) over `tokens` in the published order, those of all groups; empty ones are left out."""


def published_files(name: str) -> dict[str, tuple[str, ...]]:
    """The files of the data set called `name`, loose or in its published archive, in the form of `Task.files`."""
    archive = f"{name}.tar.gz/{name}"
    splits = {"train": "train.jsonl", "dev": "val.jsonl", "test": "test.jsonl"}
    files = {split: (file, f"{archive}/{file}") for split, file in splits.items()}
    return {**files, "documents": ("docs", "docs.jsonl", archive)}


def read_annotations(folder: Path, names: Sequence[str]) -> Iterator[Annotation]:
    """The annotations of the first file of `names` below `folder`, in its order; the documents lie beside the file.

    The documents of an annotation are its `docids` in their order; without those, the ones its evidence names; without
    evidence, the one called like the annotation.

    Raises DataError with file and line for an annotation that lacks a part or has one of another type, a document that
    is not there or there twice, and evidence whose text is not that of its span; and when both forms of the documents
    are there, or none.
    """
    path = required(folder, names)
    documents = _Documents(_texts(path.parent))
    for number, row in read_json(path, required=("evidences",), strings=("annotation_id", "classification", "query")):
        yield _annotation(row, documents, f"{path}, line {number}")


def tokens_of(document: str) -> Tokens:
    """Tokens of a document: blanks separate them, lines are sentences.

    A blank is the ASCII one alone, as in the published reader: a no-break space is part of its token.
    """
    return tuple(token for line in document.split("\n") for token in line.strip().split(" ") if token)


class _Documents(dict[str, Tokens]):
    """Tokens by document name, each document split when first asked for. A name without document raises KeyError."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        super().__init__()
        self._texts = texts

    def __missing__(self, name: str) -> Tokens:
        self[name] = tokens_of(self._texts[name])
        return self[name]


def _texts(place: Path) -> dict[str, str]:
    """Text of each document by its name, from whichever form lies in `place`, a folder or one inside an archive."""
    if place_inside(place / "docs"):
        # Only a pass through the archive tells what it holds.
        everything = dict(read_texts(place))
        folder = {name.removeprefix("docs/"): text for name, text in everything.items() if name.startswith("docs/")}
        lines = place / "docs.jsonl" if "docs.jsonl" in everything else None
    else:
        folder = dict(read_texts(place / "docs")) if (place / "docs").is_dir() else {}
        lines = locate(place, ["docs.jsonl"])
    if bool(folder) == (lines is not None):
        raise DataError(
            f"{place} has {'both' if folder else 'neither'} a folder docs {'and' if folder else 'nor'} a file "
            "docs.jsonl; the documents of the annotations lie in exactly one of them"
        )
    if lines is None:
        return folder
    texts: dict[str, str] = {}
    for number, row in read_json(lines, strings=("docid", "document")):
        if row["docid"] in texts:
            raise DataError(f"{lines}, line {number}: docid {row['docid']!r} came before")
        texts[row["docid"]] = row["document"]
    return texts


def _annotation(row: Mapping[str, Any], documents: Mapping[str, Tokens], where: str) -> Annotation:
    spans = list(_spans(row["evidences"], where))
    named = list(dict.fromkeys(docid for docid, *_ in spans)) or [row["annotation_id"]]
    tokens: Tokens = ()
    starts: dict[str, int] = {}
    for docid in _docids(row, where) or named:
        starts[docid] = len(tokens)
        try:
            tokens += documents[docid]
        except KeyError as error:
            raise DataError(f"{where}: its document {docid!r} is neither in docs nor in docs.jsonl") from error
    evidence: list[tuple[int, int]] = []
    for docid, start, end, text in spans:
        if docid not in starts:
            raise DataError(f"{where}: evidence in {docid!r}, which is none of its docids, {', '.join(starts)}")
        _check(docid, documents[docid], start, end, text, where)
        if start < end:
            evidence.append((starts[docid] + start, starts[docid] + end))
    return Annotation(row["classification"], row["query"], tokens, tuple(evidence))


def _spans(evidences: object, where: str) -> Iterator[tuple[str, int, int, str]]:
    """docid, start, end and text of each evidence, those of all groups."""

    def malformed(what: str) -> DataError:
        return DataError(
            f"{where}: malformed evidence ({what}); expected a list of groups, each a list of objects with docid, "
            "start_token, end_token and text"
        )

    if not isinstance(evidences, list) or not all(isinstance(group, list) for group in evidences):
        raise malformed("no list of lists")
    for one in (one for group in evidences for one in group):
        if not isinstance(one, dict):
            raise malformed("no object in a group")
        for key, kind in _EVIDENCE.items():
            # By the type itself: true is an int by inheritance, but no place.
            if type(one.get(key)) is not kind:
                raise malformed(f"{key} is no {'string' if kind is str else 'whole number'}")
        yield one["docid"], one["start_token"], one["end_token"], one["text"]


def _docids(row: Mapping[str, Any], where: str) -> list[str]:
    docids = row.get("docids")
    if docids is None:
        return []
    if not isinstance(docids, list) or not all(isinstance(docid, str) for docid in docids):
        raise DataError(f"{where}: docids is no list of strings")
    if len(set(docids)) < len(docids):
        raise DataError(f"{where}: docids names a document twice")
    return docids


def _check(docid: str, tokens: Tokens, start: int, end: int, text: str, where: str) -> None:
    if not 0 <= start <= end <= len(tokens):
        raise DataError(f"{where}: evidence [{start}, {end}) lies outside {docid!r}, which has {len(tokens)} tokens")
    found = " ".join(tokens[start:end])
    if found != text:
        raise DataError(
            f"{where}: evidence [{start}, {end}) of {docid!r} is stated as {text[:60]!r}, but the document has "
            f"{found[:60]!r} there; annotations and documents must be of one release"
        )
