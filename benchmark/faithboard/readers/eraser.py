"""The ERASER format (DeYoung et al. 2020): JSON lines of annotations, and documents as blank-separated tokens.

    {"annotation_id": "7", "query": "The film is new.", "classification": "REFUTES", "docids": ["Film"],
     "evidences": [[{"docid": "Film", "start_token": 0, "end_token": 3, "text": "An old film"}]]}

Documents are the files of a folder `docs/`, or lines `{"docid": ..., "document": ...}` of a file `docs.jsonl`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faithboard.errors import DataError
from faithboard.readers.files import locate, read_lines, required
from faithboard.readers.tables import read_json

DOCUMENTS = ("docs", "docs.jsonl")
"""Names the documents can have below the folder of a data set."""


@dataclass(frozen=True)
class Annotation:
    """One labelled query about documents, with the evidence that people marked in them."""

    label: str
    query: str
    tokens: tuple[str, ...]
    """Of its documents, one after the other."""
    evidence: tuple[tuple[int, int], ...]
    """Spans [start, end) over `tokens` in the published order, those of all groups; empty ones are left out."""


def read_annotations(folder: Path, name: str) -> Iterator[Annotation]:
    """The annotations of the file `name` below `folder`, in its order.

    The documents of an annotation are its `docids` in their order; without those, the ones its evidence names; without
    evidence, the one called like the annotation.

    Raises DataError with file and line for an annotation that lacks a part, a document that is not there, and evidence
    whose text is not that of its span; and when both forms of the documents are there, or none.
    """
    path = required(folder, [name])
    documents = _documents(folder)
    for number, row in read_json(path, required=("annotation_id", "classification", "evidences", "query")):
        yield _annotation(row, documents, f"{path}, line {number}")


def tokens_of(document: str) -> tuple[str, ...]:
    """Tokens of a document: blanks separate them, lines are sentences.

    A blank is the ASCII one alone, as in the published reader: a no-break space is part of its token.
    """
    return tuple(token for line in document.split("\n") for token in line.strip().split(" ") if token)


class _Folder(dict[str, tuple[str, ...]]):
    """Tokens by document name, each file read when first asked for. A name with no file raises KeyError."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def __missing__(self, name: str) -> tuple[str, ...]:
        path = None if "/" in name else locate(self._folder, [name])
        if path is None:
            raise KeyError(name)
        self[name] = tokens_of("\n".join(line for _, line in read_lines(path)))
        return self[name]


def _documents(folder: Path) -> Mapping[str, tuple[str, ...]]:
    found = [path for path in (locate(folder, [name]) for name in DOCUMENTS) if path is not None]
    if len(found) > 1:
        raise DataError(f"{folder} has both {found[0].name} and {found[1].name}; which holds the documents? Remove one")
    path = required(folder, DOCUMENTS)
    if path.is_dir():
        return _Folder(path)
    return {str(row["docid"]): tokens_of(row["document"]) for _, row in read_json(path, required=("docid", "document"))}


def _annotation(row: Mapping[str, Any], documents: Mapping[str, tuple[str, ...]], where: str) -> Annotation:
    try:
        spans = [
            (str(e["docid"]), int(e["start_token"]), int(e["end_token"]), e["text"])
            for group in row["evidences"]
            for e in group
        ]
    except (TypeError, KeyError, ValueError) as error:
        raise DataError(
            f"{where}: malformed evidence ({type(error).__name__}: {error}); expected a list of groups, each a list of "
            "objects with docid, start_token, end_token and text"
        ) from error
    named = list(dict.fromkeys(docid for docid, *_ in spans)) or [row["annotation_id"]]
    tokens: tuple[str, ...] = ()
    starts: dict[str, int] = {}
    for docid in row.get("docids") or named:
        starts[docid] = len(tokens)
        try:
            tokens += documents[docid]
        except KeyError as error:
            raise DataError(f"{where}: its document {docid!r} is not among {' or '.join(DOCUMENTS)}") from error
    evidence: list[tuple[int, int]] = []
    for docid, start, end, text in spans:
        if docid not in starts:
            raise DataError(f"{where}: evidence in {docid!r}, which is none of its docids, {', '.join(starts)}")
        _check(docid, documents[docid], start, end, text, where)
        if start < end:
            evidence.append((starts[docid] + start, starts[docid] + end))
    return Annotation(row["classification"], row["query"], tokens, tuple(evidence))


def _check(docid: str, tokens: tuple[str, ...], start: int, end: int, text: str, where: str) -> None:
    if not 0 <= start <= end <= len(tokens):
        raise DataError(f"{where}: evidence [{start}, {end}) lies outside {docid!r}, which has {len(tokens)} tokens")
    found = " ".join(tokens[start:end])
    if found != text:
        raise DataError(
            f"{where}: evidence [{start}, {end}) of {docid!r} is stated as {text[:60]!r}, but the document has "
            f"{found[:60]!r} there; annotations and documents must be of one release"
        )
