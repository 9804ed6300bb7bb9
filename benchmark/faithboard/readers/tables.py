"""Rows with named columns: delimited text with RFC 4180 quoting, and JSON lines."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from faithboard.errors import DataError
from faithboard.readers.files import read_lines

FIELD_LIMIT = 2**24
"""Characters a field may have. Python's own 131,072 are too few for a clinical note; with no limit at all, one quote
that never closes would take the rest of a large file into memory."""


def read_rows(
    path: Path,
    *,
    columns: Sequence[str] | None = None,
    required: Sequence[str] = (),
    delimiter: str = ",",
    quoted: bool = True,
) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row of a delimited file, by column, with the number of the line it starts on; empty lines are skipped.

    Without `columns` the first row names them, and must name all that are `required`. A quoted field may span lines,
    which then end in a line feed. `quoted=False` is for files that quote nothing: a quotation mark is text there.

    Raises DataError with file and line for a missing or repeated column, a row with another number of fields than
    columns, and broken quoting.
    """
    rows = _split(path, delimiter, quoted)
    if columns is None:
        number, columns = next(rows, (1, []))
        missing = [name for name in required if name not in columns]
        if missing or not columns:
            # Its cells are not quoted: without a header they are data, which may be private.
            raise DataError(
                f"{path}, line {number}: no column {', '.join(missing)}; the first row must name the columns"
            )
        repeated = [name for name, times in Counter(columns).items() if times > 1]
        if repeated:
            raise DataError(f"{path}, line {number}: two columns are called {repeated[0]!r}; rename or remove one")
    for number, fields in rows:
        if len(fields) != len(columns):
            raise DataError(
                f"{path}, line {number}: {len(fields)} fields instead of {len(columns)} ({', '.join(columns)}); "
                "is the line cut off, or a field with a delimiter not quoted?"
            )
        yield number, dict(zip(columns, fields, strict=True))


def read_json(
    path: Path, *, required: Sequence[str] = (), strings: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON object of each line, with its line number; empty lines are skipped.

    Keys of `strings` are required too. Raises DataError with file and line for a line that is not one whole object,
    lacks a required key, has something else than a string where one must be, or has text that is not Unicode.
    """
    for number, line in _lines(path):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise DataError(
                f"{path}, line {number}: broken JSON ({error.msg} at character {error.colno}); "
                "expected one object a line. Is the file cut off? Download it again"
            ) from error
        if not isinstance(row, dict):
            raise DataError(f"{path}, line {number}: {line[:60]!r} is no JSON object; expected one a line")
        # JSON can spell half a surrogate pair, which no file can hold. Only an escape does so.
        if "\\u" in line and not _encodable(row):
            raise DataError(
                f"{path}, line {number}: half a surrogate pair (an escape from \\ud800 to \\udfff), no text"
            )
        missing = [key for key in (*required, *strings) if key not in row]
        if missing:
            raise DataError(f"{path}, line {number}: no key {', '.join(missing)}; there are {', '.join(row) or 'none'}")
        for key in strings:
            if not isinstance(row[key], str):
                raise DataError(f"{path}, line {number}: {key} is no string")
        yield number, row


def _encodable(row: dict[str, Any]) -> bool:
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _split(path: Path, delimiter: str, quoted: bool) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each row that is not empty."""
    csv.field_size_limit(max(FIELD_LIMIT, csv.field_size_limit()))
    rows = csv.reader(
        (f"{line}\n" for _, line in _lines(path)),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        strict=True,
    )
    start = 1
    try:
        for fields in rows:
            if fields:
                yield start, fields
            start = rows.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"{path}, line {start}: broken quoting in the row that starts here ({error}); "
            'a quotation mark inside a quoted field is doubled: "he said ""yes"""'
        ) from error


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of a file without the byte order mark that some programs put before the first."""
    for number, line in read_lines(path):
        yield number, line.removeprefix("\ufeff") if number == 1 else line
