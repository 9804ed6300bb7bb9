from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import pytest

from faithboard.errors import DataError
from faithboard.readers import hub
from faithboard.task import HubSource, Record


def convert(split: str, number: int, row: Mapping[str, Any]) -> Record | None:
    assert set(row) == {"text", "label"}
    return None if row["label"] < 0 else Record(f"{split}-{number}", row["text"], str(row["label"]))


SOURCE = HubSource(
    id="nobody/nothing", revision=hub.CONVERTED, config="cased", columns=("text", "label"), convert=convert
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The hub's parquet files of a converted data set."""
    for split, rows in {"train": ["a", "b"], "validation": ["c"], "test": ["d", "e"]}.items():
        frame = pd.DataFrame({"text": rows, "label": range(-1, len(rows) - 1), "extra": 0})
        (tmp_path / "cased" / split).mkdir(parents=True)
        frame.to_parquet(tmp_path / "cased" / split / "0000.parquet")
    return tmp_path


def test_rows_of_a_local_copy_are_converted_in_order(copy: Path) -> None:
    assert list(hub.records(SOURCE, copy, "train")) == [None, Record("train-1", "b", "0")]
    assert list(hub.records(SOURCE, copy, "dev")) == [None]


def test_files_named_after_the_splits_do_as_well(tmp_path: Path) -> None:
    pd.DataFrame({"text": ["a"], "label": [1]}).to_parquet(tmp_path / "test-00000-of-00001.parquet")
    assert list(hub.records(SOURCE, tmp_path, "test")) == [Record("test-0", "a", "1")]


def test_identity_is_the_pinned_revision_or_the_content_of_the_copy(copy: Path) -> None:
    assert hub.identity(SOURCE, None)["revision"] == hub.CONVERTED
    before = hub.identity(SOURCE, copy)
    assert set(before) == {f"{split}/0000.parquet" for split in ("train", "validation", "test")}
    pd.DataFrame({"text": ["z"], "label": [1]}).to_parquet(copy / "cased/test/0000.parquet")
    assert hub.identity(SOURCE, copy) != before


def test_a_missing_column_names_those_that_are_there(copy: Path) -> None:
    for path in copy.rglob("*.parquet"):
        pd.DataFrame({"sentence": ["z"], "label": [1]}).to_parquet(path)
    with pytest.raises(DataError, match="no column text; there are sentence, label"):
        list(hub.records(SOURCE, copy, "test"))


def test_a_row_without_a_text_names_split_row_and_column(copy: Path) -> None:
    pd.DataFrame({"text": ["z", None], "label": [1, 1]}).to_parquet(copy / "cased/test/0000.parquet")
    rows = hub.records(SOURCE, copy, "test")
    assert next(rows) == Record("test-0", "z", "1")
    with pytest.raises(DataError, match="split test, row 1: nothing in column text"):
        next(rows)


def test_a_class_is_the_name_at_its_number_or_key() -> None:
    assert [hub.class_name(("no", "yes"), number, "here") for number in (0, 1)] == ["no", "yes"]
    assert hub.class_name({"n": "no"}, "n", "here") == "no"


@pytest.mark.parametrize("value", [None, -1, 2, 1.0, True, "yes", []])
def test_anything_else_is_no_class(value: object) -> None:
    with pytest.raises(DataError, match=r"split dev, row 7: label .* is no class; expected a number from 0 to 1"):
        hub.class_name(("no", "yes"), value, "split dev, row 7")
    with pytest.raises(DataError, match=r"split dev, row 7: label .* is no class; expected one of n"):
        hub.class_name({"n": "no"}, value, "split dev, row 7")


def test_a_folder_without_parquet_files_says_what_it_should_hold(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no parquet files.*train, validation, test"):
        hub.identity(SOURCE, tmp_path)


def test_a_damaged_parquet_file_is_one_error(copy: Path) -> None:
    (copy / "cased/test/0000.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(DataError, match="split test cannot be read"):
        list(hub.records(SOURCE, copy, "test"))


def test_without_a_network_there_is_one_error_that_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    with pytest.raises(DataError, match=r"nobody/nothing .*use the published files"):
        list(hub.records(SOURCE, None, "train"))


@pytest.mark.parametrize(("revision", "place"), [(hub.CONVERTED, "data_dir"), ("0123abc", "name")])
def test_the_hub_is_asked_for_the_pinned_revision(monkeypatch: pytest.MonkeyPatch, revision: str, place: str) -> None:
    asked: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def load_dataset(*args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        asked.append((args, kwargs))
        return [{"text": "a", "label": 1}]

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    source = HubSource(id="some/data", revision=revision, config="c", columns=("text", "label"), convert=convert)
    assert list(hub.records(source, None, "dev")) == [Record("dev-0", "a", "1")]
    assert asked == [(("some/data",), {"split": "validation", "revision": revision, place: "c"})]
