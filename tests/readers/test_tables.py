from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from faithboard.errors import DataError
from faithboard.readers.tables import FIELD_LIMIT, read_json, read_rows


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.csv"


def test_rows_are_named_by_the_header_and_numbered_by_their_first_line(path: Path) -> None:
    path.write_bytes(b'id,text\r\n1,"two\r\nlines, and ""marks"""\r\n\r\n2,\r\n')
    assert list(read_rows(path, required=("text",))) == [
        (2, {"id": "1", "text": 'two\nlines, and "marks"'}),
        (5, {"id": "2", "text": ""}),
    ]


def test_columns_can_be_given_for_a_file_without_header(path: Path) -> None:
    path.write_text("3,Title\n4,Other\n")
    assert list(read_rows(path, columns=("class", "title"))) == [
        (1, {"class": "3", "title": "Title"}),
        (2, {"class": "4", "title": "Other"}),
    ]


def test_gzipped_text_with_a_byte_order_mark_is_the_same(tmp_path: Path) -> None:
    zipped = tmp_path / "rows.csv.gz"
    zipped.write_bytes(gzip.compress("\ufeffid,text\n1,caf\u00e9\n".encode()))
    assert list(read_rows(zipped, required=("id",))) == [(2, {"id": "1", "text": "caf\u00e9"})]


def test_a_file_that_quotes_nothing_keeps_its_marks(path: Path) -> None:
    path.write_text('label\ttext\nyes\t"Stop," he said\nno\t"\n')
    rows = read_rows(path, delimiter="\t", quoted=False)
    assert [row["text"] for _, row in rows] == ['"Stop," he said', '"']


def test_a_field_may_be_longer_than_the_limit_of_the_csv_module(path: Path) -> None:
    path.write_text(f'id,text\n1,"{"long " * 40_000}"\n')
    ((_, row),) = read_rows(path)
    assert len(row["text"]) == 200_000


@pytest.mark.parametrize(
    ("row", "missing"), [("something private,1", "text, label"), ("something private,label", "text")]
)
def test_a_first_row_that_is_no_header_is_not_quoted(path: Path, row: str, missing: str) -> None:
    path.write_text(f"{row}\n")
    with pytest.raises(DataError, match=rf"rows\.csv, line 1: no column {missing}; the first row must") as caught:
        list(read_rows(path, required=("text", "label")))
    assert "private" not in str(caught.value)


def test_an_empty_file_has_no_columns(path: Path) -> None:
    path.touch()
    with pytest.raises(DataError, match=r"rows\.csv, line 1: no column text; the first row must name"):
        list(read_rows(path, required=("text",)))
    assert list(read_rows(path, columns=("text",))) == []


@pytest.mark.parametrize(("row", "count"), [("1", 1), ("1,a,b", 3)])
def test_another_number_of_fields_names_the_line(path: Path, row: str, count: int) -> None:
    path.write_text(f'id,text\n1,"a\nb"\n{row}\n')
    with pytest.raises(DataError, match=rf"line 4: {count} fields instead of 2 \(id, text\)"):
        list(read_rows(path))


@pytest.mark.parametrize("row", ['2,"a" b', '2,"never closed\nand more\n', f'2,"{"x" * (FIELD_LIMIT + 1)}"'])
def test_broken_quoting_names_the_line_where_the_row_starts(path: Path, row: str) -> None:
    path.write_text(f"id,text\n1,a\n{row}\n")
    with pytest.raises(DataError, match=r"rows\.csv, line 3: broken quoting"):
        list(read_rows(path))


def test_json_objects_are_numbered_and_empty_lines_skipped(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('\ufeff{"a": 1}\n\n{"a": [2, "\u2028"]}\n', encoding="utf-8")
    assert list(read_json(path, required=("a",))) == [(1, {"a": 1}), (3, {"a": [2, "\u2028"]})]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"a": 1', r"broken JSON .* at character 8"),
        ('{"a": 1} {"a": 2}', "broken JSON"),
        ("[1]", "is no JSON object"),
        ('{"b": 1, "c": 2}', "no key a; there are b, c"),
    ],
)
def test_a_broken_json_line_names_file_and_line(tmp_path: Path, line: str, what: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"a": 1}}\n{line}\n')
    with pytest.raises(DataError, match=rf"rows\.jsonl, line 2: .*{what}"):
        list(read_json(path, required=("a",)))


@pytest.mark.parametrize("value", ["null", "[]", "3", "{}", "true"])
def test_a_key_that_must_be_a_string_is_one(tmp_path: Path, value: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"a": "", "b": 1}}\n{{"a": {value}, "b": 1}}\n')
    with pytest.raises(DataError, match=r"rows\.jsonl, line 2: a is no string"):
        list(read_json(path, required=("b",), strings=("a",)))
    path.write_text('{"b": 1}\n')
    with pytest.raises(DataError, match=r"rows\.jsonl, line 1: no key a; there are b"):
        list(read_json(path, strings=("a",)))


@pytest.mark.parametrize("row", [r'{"a": "x\ud800"}', r'{"a": [{"b": "\uDC00x"}]}', r'{"a": 1, "\ud83d": 2}'])
def test_half_a_surrogate_pair_names_file_and_line(tmp_path: Path, row: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(r'{"a": "\ud83d\ude00"}' + f"\n{row}\n")
    rows = read_json(path, required=("a",))
    assert next(rows) == (1, {"a": "\U0001f600"})
    with pytest.raises(DataError, match=r"rows\.jsonl, line 2: half a surrogate pair"):
        next(rows)
