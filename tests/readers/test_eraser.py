from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from faithboard.errors import DataError
from faithboard.readers.eraser import Annotation, published_files, read_annotations, tokens_of
from faithboard.readers.files import locate

DOCUMENTS = {"Old_Film": "An old film .\n\n It bores  me .\n", "Caf\u00e9": "Open\u00a0late .\n"}


def evidence(docid: str, start: int, end: int, text: str) -> dict[str, Any]:
    return {"docid": docid, "start_token": start, "end_token": end, "text": text}


def annotation(**changes: Any) -> dict[str, Any]:
    return {"annotation_id": "7", "classification": "NEG", "query": "New?", "evidences": [[BORES]], **changes}


BORES = evidence("Old_Film", 4, 7, "It bores me")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "loose" / "docs").mkdir(parents=True)
    for name, document in DOCUMENTS.items():
        (tmp_path / "loose" / "docs" / name).write_text(document, encoding="utf-8")
    return tmp_path / "loose"


def read(folder: Path, *rows: dict[str, Any]) -> list[Annotation]:
    (folder / "test.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return list(read_annotations(folder, ["test.jsonl"]))


def test_the_tokens_of_all_lines_are_one_document_and_evidence_is_a_span_of_it(folder: Path) -> None:
    (found,) = read(folder, annotation())
    assert found == Annotation("NEG", "New?", ("An", "old", "film", ".", "It", "bores", "me", "."), ((4, 7),))


def test_blanks_alone_separate_tokens() -> None:
    assert tokens_of(" a\u00a0b  c \n\nd\u2028e\n") == ("a\u00a0b", "c", "d\u2028e")


def test_documents_are_joined_in_the_stated_order_and_evidence_moves_with_them(folder: Path) -> None:
    groups = [
        [evidence("Old_Film", 1, 3, "old film"), evidence("Caf\u00e9", 0, 1, "Open\u00a0late")],
        [evidence("Old_Film", 3, 3, "")],
    ]
    (found,) = read(folder, annotation(docids=["Caf\u00e9", "Old_Film"], evidences=groups))
    assert found.tokens[:4] == ("Open\u00a0late", ".", "An", "old")
    assert [" ".join(found.tokens[start:end]) for start, end in found.evidence] == ["old film", "Open\u00a0late"]


@pytest.mark.parametrize("docids", [{}, {"docids": None}])
def test_without_docids_the_evidence_names_the_documents(folder: Path, docids: dict[str, Any]) -> None:
    late = evidence("Caf\u00e9", 1, 2, ".")
    (found,) = read(folder, annotation(evidences=[[late], [evidence("Old_Film", 0, 1, "An")]], **docids))
    assert found.tokens[:3] == ("Open\u00a0late", ".", "An")


def test_without_evidence_the_annotation_names_its_document(folder: Path) -> None:
    (found,) = read(folder, annotation(annotation_id="Caf\u00e9", evidences=[]))
    assert (found.tokens, found.evidence) == (("Open\u00a0late", "."), ())


def one_file(folder: Path) -> None:
    """Put the documents into a file in place of the folder."""
    shutil.rmtree(folder / "docs")
    lines = [json.dumps({"docid": name, "document": document}) for name, document in DOCUMENTS.items()]
    (folder / "docs.jsonl").write_text("\n".join(lines))


def test_documents_in_one_file_read_the_same(folder: Path) -> None:
    expected = read(folder, annotation())
    one_file(folder)
    assert read(folder, annotation()) == expected


@pytest.mark.parametrize("form", ["docs", "docs.jsonl"])
def test_annotations_and_documents_may_lie_in_the_published_archive(folder: Path, tmp_path: Path, form: str) -> None:
    expected = read(folder, annotation())
    if form == "docs.jsonl":
        one_file(folder)
    (tmp_path / "toy").mkdir()
    with tarfile.open(tmp_path / "toy" / "toy.tar.gz", "w:gz") as archive:
        for name in ("test.jsonl", form):
            archive.add(folder / name, f"toy/{name}")
    files = published_files("toy")
    assert list(read_annotations(tmp_path / "toy", files["test"])) == expected
    assert locate(tmp_path / "toy", files["documents"]) == tmp_path / "toy" / "toy.tar.gz" / "toy"


def test_both_forms_of_the_documents_are_refused_and_so_is_none(folder: Path) -> None:
    (folder / "docs.jsonl").touch()
    with pytest.raises(DataError, match=r"has both a folder docs and a file docs\.jsonl"):
        read(folder, annotation())
    (folder / "docs.jsonl").unlink()
    shutil.rmtree(folder / "docs")
    with pytest.raises(DataError, match=r"has neither a folder docs nor a file docs\.jsonl"):
        read(folder, annotation())


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        ({"evidences": [[evidence("Old_Film", 4, 9, "It bores me . again")]]}, r"\[4, 9\) lies outside 'Old_Film'.* 8"),
        ({"evidences": [[evidence("Old_Film", 3, 2, "")]]}, r"\[3, 2\) lies outside"),
        ({"evidences": [[evidence("Old_Film", 0, 2, "A new")]]}, "stated as 'A new', but the document has 'An old'"),
        ({"docids": ["Caf\u00e9"]}, "evidence in 'Old_Film', which is none of its docids, Caf\u00e9"),
        ({"docids": ["Gone"]}, "document 'Gone' is neither in docs"),
        ({"docids": ["../test.jsonl"]}, "is neither in docs"),
        ({"evidences": [[{"docid": "Old_Film"}]]}, "malformed evidence .*start_token"),
        ({"evidences": [None]}, "malformed evidence"),
        ({"evidences": None}, "malformed evidence"),
        ({"evidences": [["Old_Film"]]}, "malformed evidence"),
        ({"evidences": [[{**BORES, "start_token": 4.0}]]}, "start_token is no whole number"),
        ({"evidences": [[{**BORES, "end_token": True}]]}, "end_token is no whole number"),
        ({"evidences": [[{**BORES, "end_token": "7"}]]}, "end_token is no whole number"),
        ({"evidences": [[{**BORES, "text": None}]]}, "text is no string"),
        ({"evidences": [[{**BORES, "docid": 3}]]}, "docid is no string"),
        ({"docids": "Old_Film"}, "docids is no list of strings"),
        ({"docids": ["Old_Film", 3]}, "docids is no list of strings"),
        ({"docids": ["Old_Film", "Old_Film"]}, "docids names a document twice"),
        ({"query": None}, "query is no string"),
        ({"classification": 1}, "classification is no string"),
        ({"annotation_id": 7}, "annotation_id is no string"),
    ],
)
def test_a_broken_annotation_names_file_and_line(folder: Path, broken: dict[str, Any], what: str) -> None:
    with pytest.raises(DataError, match=rf"test\.jsonl, line 2: .*{what}"):
        read(folder, annotation(), annotation(**broken))


@pytest.mark.parametrize(
    ("document", "what"),
    [
        ({"docid": "New", "document": None}, "document is no string"),
        ({"docid": 3, "document": "Text"}, "docid is no string"),
        ({"docid": "Old_Film", "document": "Text"}, "docid 'Old_Film' came before"),
    ],
)
def test_a_broken_document_names_file_and_line(folder: Path, document: dict[str, Any], what: str) -> None:
    one_file(folder)
    with (folder / "docs.jsonl").open("a") as file:
        file.write(f"\n{json.dumps(document)}\n")
    with pytest.raises(DataError, match=rf"docs\.jsonl, line 3: {what}"):
        read(folder, annotation())


def test_a_missing_part_names_file_and_line(folder: Path) -> None:
    row = annotation()
    del row["query"]
    with pytest.raises(DataError, match=r"test\.jsonl, line 1: no key query"):
        read(folder, row)


def stated_texts(path: Path) -> list[list[str]]:
    """Evidence texts of each line, by another way than the reader's."""
    groups = pd.read_json(path if path.exists() else path.with_suffix(".jsonl.gz"), lines=True, dtype=False)
    return [[one["text"] for group in row for one in group] for row in groups["evidences"]]


@pytest.mark.data
@pytest.mark.parametrize(("name", "spans"), [("movies", 17_462), ("fever", 17_136)])
def test_every_published_span_rebuilds_its_evidence_text(data_root: Path, name: str, spans: int) -> None:
    rebuilt = 0
    for split in ("train", "val", "test"):
        stated = stated_texts(data_root / name / f"{split}.jsonl")
        found = read_annotations(data_root / name, [f"{split}.jsonl"])
        for annotation, texts in zip(found, stated, strict=True):
            marked = [" ".join(annotation.tokens[start:end]) for start, end in annotation.evidence]
            assert marked == [text for text in texts if text]
            rebuilt += len(texts)
    assert rebuilt == spans
