"""Files in the schema of MIMIC-III 1.4 with invented admissions and notes."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

NOTE_COLUMNS = (
    "ROW_ID",
    "SUBJECT_ID",
    "HADM_ID",
    "CHARTDATE",
    "CHARTTIME",
    "STORETIME",
    "CATEGORY",
    "DESCRIPTION",
    "CGID",
    "ISERROR",
    "TEXT",
)
DIAGNOSIS_COLUMNS = ("ROW_ID", "SUBJECT_ID", "HADM_ID", "SEQ_NUM", "ICD9_CODE")
_WORDS = (
    "patient",
    "stable",
    "pain",
    "denies",
    "given",
    "daily",
    "tablet",
    "history",
    "exam",
    "clear",
    "mild",
    "chest",
)

Note = Mapping[str, str]
"""Column -> value; columns that are left out get those of a discharge summary of admission 100."""


def write_notes(path: Path, notes: Iterator[Note] | Sequence[Note]) -> None:
    """NOTEEVENTS with the given notes, quoted as published: numbers bare, text in quotation marks."""
    usual = {
        "SUBJECT_ID": "7",
        "HADM_ID": "100",
        "CHARTDATE": "2150-01-01",
        "CATEGORY": "Discharge summary",
        "DESCRIPTION": "Report",
    }
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_MINIMAL, lineterminator="\n")
        writer.writerow(NOTE_COLUMNS)
        for number, note in enumerate(notes):
            row = {**usual, "ROW_ID": str(number), **note}
            writer.writerow([row.get(column, "") for column in NOTE_COLUMNS])


def write_diagnoses(path: Path, codes: Mapping[str, Sequence[str]]) -> None:
    """DIAGNOSES_ICD: admission -> its ICD-9 codes without the dot."""
    rows = [
        (f"{admission}{at}", "7", admission, str(at + 1), code)
        for admission, several in codes.items()
        for at, code in enumerate(several)
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([DIAGNOSIS_COLUMNS, *rows])


def invented(seed: str, words: int) -> str:
    """A note of about that many words, with line breaks, quotation marks and a de-identified name."""
    draw = random.Random(seed)
    lines = [" ".join(draw.choices(_WORDS, k=9)) for _ in range(max(1, words // 9))]
    return "\n".join([f'Name: [**Known lastname {draw.randrange(999)}**] "called" Bob', *lines, ""])
