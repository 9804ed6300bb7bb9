from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from faithboard.data import load, sample
from faithboard.data.collate import collate, rationale_mask
from faithboard.errors import DataError
from faithboard.readers.eraser import read_annotations
from faithboard.readers.files import locate, read_texts
from faithboard.readers.tables import read_json
from faithboard.task import SPLITS
from tasks.movies import MOVIES, convert

HUB_SPLITS = {"train": "train", "dev": "validation", "test": "test"}
REVIEWS = {"NEG": "A dull film .\nIt bores in 3 ways , dull to the end .", "POS": "A great film .\nSee it !"}
EVIDENCE = {"NEG": ("It bores", 4, 6), "POS": ("See it", 4, 6)}


def publish(folder: Path, **changes: Any) -> None:
    (folder / "docs").mkdir(parents=True)
    for label, review in REVIEWS.items():
        (folder / "docs" / label).write_text(review)
    rows = []
    for label, (text, start, end) in EVIDENCE.items():
        span = {"docid": label, "start_token": start, "end_token": end, "text": text}
        row = {"annotation_id": label, "classification": label, "evidences": [[span]], "query": "Good or bad?"}
        rows.append(json.dumps(row | changes))
    for name in ("train", "val", "test"):
        (folder / f"{name}.jsonl").write_text("\n".join(rows))


def test_the_whole_review_is_explained_and_the_question_kept(tmp_path: Path) -> None:
    publish(tmp_path / "movies")
    data = load(MOVIES, cache=tmp_path, root=tmp_path)
    bad, good = data.splits["test"]
    assert (bad.label, good.label) == (0, 1)
    assert bad.tokens[:8] == ("a", "dull", "film", ".", "it", "bores", "in", "qqq")
    assert bad.query == ("good", "or", "bad", "?")
    batch = collate([bad, good], data.vocabulary, MOVIES)
    assert batch.scorable_lengths.tolist() == [len(bad.tokens), len(good.tokens)]
    assert rationale_mask([bad, good], batch).nonzero().tolist() == [[0, 4], [0, 5], [1, 4], [1, 5]]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"classification": "BAD"}, "label 'BAD'"),
        ({"docids": ["POS"]}, r"train\.jsonl, line 1: evidence in 'NEG'"),
        ({"evidences": 3}, r"train\.jsonl, line 1: malformed evidence"),
    ],
)
def test_a_broken_annotation_is_one_error(tmp_path: Path, changes: dict[str, Any], what: str) -> None:
    publish(tmp_path / "movies", **changes)
    with pytest.raises(DataError, match=what):
        load(MOVIES, cache=tmp_path, root=tmp_path)


def test_missing_documents_are_named_with_their_source(tmp_path: Path) -> None:
    (tmp_path / "movies").mkdir()
    with pytest.raises(DataError, match=r"documents: docs or docs\.jsonl or movies\.tar\.gz/movies\n.*eraserbenchmark"):
        load(MOVIES, cache=tmp_path, root=tmp_path)


def publish_on_hub(folder: Path, rows: dict[str, list[dict[str, Any]]]) -> None:
    for split, name in HUB_SPLITS.items():
        (folder / "default" / name).mkdir(parents=True)
        pd.DataFrame(rows[split]).to_parquet(folder / "default" / name / "0000.parquet")


def test_the_hub_gives_the_same_data_where_each_evidence_stands_once(tmp_path: Path) -> None:
    publish(tmp_path / "files" / "movies")
    question = {"query": "What is the sentiment of this review?"}
    for name in ("train", "val", "test"):
        path = tmp_path / "files" / "movies" / f"{name}.jsonl"
        path.write_text("\n".join(json.dumps(row | question) for _, row in read_json(path)))
    rows = [{"review": REVIEWS[x], "label": at, "evidences": [EVIDENCE[x][0]]} for at, x in enumerate(("NEG", "POS"))]
    publish_on_hub(tmp_path / "hub", dict.fromkeys(SPLITS, rows))
    files = load(MOVIES, cache=tmp_path, root=tmp_path / "files")
    hub = load(MOVIES, cache=tmp_path, root=tmp_path / "hub", origin="hub")
    assert hub.fingerprint == files.fingerprint
    assert all(list(hub.splits[split]) == list(files.splits[split]) for split in SPLITS)


def test_on_the_hub_every_place_of_an_evidence_is_marked() -> None:
    record = convert("test", 0, {"review": REVIEWS["NEG"], "label": 0, "evidences": ["dull", "", "film ."]})
    assert record.rationale == ((1, 2), (10, 11), (2, 4))
    with pytest.raises(DataError, match="split test, row 4: evidence 'gone' is not in its review"):
        convert("test", 4, {"review": REVIEWS["NEG"], "label": 0, "evidences": ["gone"]})


def test_evidence_that_marks_no_token_is_no_rationale(tmp_path: Path) -> None:
    publish(tmp_path / "one" / "movies")
    nothing = {"docid": "NEG", "start_token": 3, "end_token": 3, "text": ""}
    path = tmp_path / "one" / "movies" / "train.jsonl"
    first, second = path.read_text().split("\n")
    path.write_text("\n".join([json.dumps(json.loads(first) | {"evidences": [[nothing]]}), second]))
    data = load(MOVIES, cache=tmp_path, root=tmp_path / "one")
    assert [example.rationale is None for example in data.splits["train"]] == [True, False]
    assert convert("test", 0, {"review": REVIEWS["NEG"], "label": 0, "evidences": [""]}).rationale is None


@pytest.mark.parametrize("label", [-1, 2, None, "POS"])
def test_a_class_outside_the_two_on_the_hub_names_its_row(label: object) -> None:
    with pytest.raises(DataError, match=rf"split test, row 4: label {label!r} is no class"):
        convert("test", 4, {"review": REVIEWS["NEG"], "label": label, "evidences": []})


@pytest.mark.data
def test_published_reviews_are_whole_and_marked_where_the_files_say(tmp_path: Path, data_root: Path) -> None:
    data = load(MOVIES, cache=tmp_path, root=data_root)
    assert {split: counts.read for split, counts in data.counts.items()} == MOVIES.published_rows
    assert {split: counts.used for split, counts in data.counts.items()} == MOVIES.published_rows
    assert data.counts["train"].per_class == {"NEG": 800, "POS": 800}
    assert data.counts["test"].per_class == {"NEG": 100, "POS": 99}
    assert data.fingerprint_name == "shared-subset"
    assert max(len(example.tokens) for example in data.splits["train"]) == 2_809
    assert {example.label for example in sample(data, "test", 16)} == {0, 1}
    unmarked = 0
    for split in SPLITS:
        annotations = read_annotations(data_root / "movies", MOVIES.files[split])
        for annotation, example in zip(annotations, data.splits[split], strict=True):
            marked = {at for start, end in annotation.evidence for at in range(start, end)}
            assert (example.rationale is None) == (not marked)
            assert {at for at, flag in enumerate(example.rationale or ()) if flag} == marked
            unmarked += not marked
            assert len(example.tokens) == len(annotation.tokens)
    assert unmarked == 1


@pytest.mark.data
def test_rows_as_on_the_hub_differ_in_the_rationale_of_76_reviews(tmp_path: Path, data_root: Path) -> None:
    texts = dict(read_texts(data_root / "movies" / "docs"))

    def rows(split: str) -> Iterator[dict[str, Any]]:
        path = locate(data_root / "movies", MOVIES.files[split])
        assert path is not None
        for _, row in read_json(path):
            evidences = [span["text"] for group in row["evidences"] for span in group]
            label = MOVIES.labels.index(row["classification"])
            yield {"review": texts[row["annotation_id"]], "label": label, "evidences": evidences}

    publish_on_hub(tmp_path, {split: list(rows(split)) for split in SPLITS})
    files = load(MOVIES, cache=tmp_path / "cache", root=data_root)
    hub = load(MOVIES, cache=tmp_path / "cache", root=tmp_path, origin="hub")
    assert hub.fingerprint_name == "unverified"
    differ = 0
    for split in SPLITS:
        for one, other in zip(hub.splits[split], files.splits[split], strict=True):
            assert (one.id, one.tokens, one.query, one.label) == (other.id, other.tokens, other.query, other.label)
            assert (one.rationale is None) == (other.rationale is None)
            assert all(
                there or not here for there, here in zip(one.rationale or (), other.rationale or (), strict=True)
            )
            differ += one.rationale != other.rationale
    assert differ == 1_999 - 1_923
