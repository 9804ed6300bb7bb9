"""MIMIC-III 1.4 (Johnson et al. 2016): the codes and the discharge summary of each admission.

Notes may not leave the machine of whoever signed for them: no error quotes a field.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator
from pathlib import Path

from faithboard.errors import DataError
from faithboard.readers.files import read_lines
from faithboard.readers.tables import read_rows

KINDS = {"Report": 0, "Addendum": 1}
"""DESCRIPTION of a discharge summary -> its place in the joined text."""


def read_codes(path: Path) -> dict[str, set[str]]:
    """HADM_ID -> ICD-9 codes of the admission, from DIAGNOSES_ICD: `25000` as `250.00`.

    Rows with an empty field are left out. Raises DataError for a file without its columns.
    """
    codes: dict[str, set[str]] = defaultdict(set)
    for _, row in read_rows(path, required=("HADM_ID", "SEQ_NUM", "ICD9_CODE")):
        if all(row.values()):
            codes[row["HADM_ID"]].add(f"{row['ICD9_CODE'][:3]}.{row['ICD9_CODE'][3:]}")
    return dict(codes)


def read_summaries(path: Path, admissions: Container[str]) -> Iterator[tuple[str, str]]:
    """HADM_ID and discharge summary of those of `admissions` that have one, from NOTEEVENTS.

    Reports come before addenda, each by date, joined by a blank; notes marked as errors are left out. The file is
    streamed: memory holds the summaries of `admissions` and one other note. Raises DataError with file and line.
    """
    notes: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    columns = ("HADM_ID", "CHARTDATE", "CATEGORY", "DESCRIPTION", "ISERROR", "TEXT")
    for line, row in read_rows(path, required=columns):
        if row["CATEGORY"] == "Discharge summary" and not row["ISERROR"] and row["HADM_ID"] in admissions:
            if row["DESCRIPTION"] not in KINDS:
                raise DataError(f"{path}, line {line}: DESCRIPTION is none of {', '.join(KINDS)}")
            notes[row["HADM_ID"]].append((KINDS[row["DESCRIPTION"]], row["CHARTDATE"], row["TEXT"]))
    for admission, parts in notes.items():
        yield admission, " ".join(text for _, _, text in sorted(parts, key=lambda part: part[:2])).strip()


def read_admissions(path: Path) -> list[str]:
    """The HADM_ID of each line. Raises DataError with file and line for a line that is no number."""
    numbers = []
    for line, text in read_lines(path):
        if not text.strip().isdigit():
            raise DataError(f"{path}, line {line}: no HADM_ID; expected one number a line, without a header")
        numbers.append(text.strip())
    return numbers
