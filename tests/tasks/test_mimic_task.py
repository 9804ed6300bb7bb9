from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest

from faithboard.data import load
from faithboard.errors import DataError
from faithboard.task import Record
from tasks.mimic import ANEMIA, DIABETES, clean, read_anemia, read_diabetes
from tests.tasks.clinical import DIAGNOSIS_COLUMNS, NOTE_COLUMNS, invented, write_diagnoses, write_notes

CODES = {
    "100": ["4019", "2851"],
    "101": ["28521", "25000"],
    "102": ["2851", "28529"],
    "103": ["25002", "V4581"],
    "104": ["28522"],
}
"""Acute; chronic, with diabetes; both kinds; neither, nor diabetes without complication; chronic, without a note."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_diagnoses(tmp_path / "DIAGNOSES_ICD.csv", CODES)
    write_notes(
        tmp_path / "NOTEEVENTS.csv",
        [{"HADM_ID": admission, "TEXT": f"Note {admission}."} for admission in list(CODES)[:4]],
    )
    for split, admissions in {"train": "100\n101\n", "dev": "102\n", "test": "103\n"}.items():
        (tmp_path / f"{split}_50_hadm_ids.csv").write_text(admissions)
    return tmp_path


def words(records: list[Record]) -> dict[str, str]:
    return {" ".join(record.text): record.label for record in records}


def test_anemia_is_acute_or_chronic_but_not_both(folder: Path) -> None:
    assert words(list(read_anemia(folder, "train"))) == {"note 100 .": "acute", "note 101 .": "chronic"}
    assert not list(read_anemia(folder, "dev"))


def test_diabetes_is_the_code_250_00_in_the_listed_admissions(folder: Path) -> None:
    assert words(list(read_diabetes(folder, "train"))) == {"note 100 .": "other", "note 101 .": "diabetes"}
    assert words(list(read_diabetes(folder, "dev"))) == {"note 102 .": "other"}
    assert words(list(read_diabetes(folder, "test"))) == {"note 103 .": "other"}


def test_addenda_follow_the_report_by_date_and_other_notes_are_left_out(folder: Path) -> None:
    write_notes(
        folder / "NOTEEVENTS.csv",
        [
            {"DESCRIPTION": "Addendum", "CHARTDATE": "2150-01-09", "TEXT": "third"},
            {"DESCRIPTION": "Addendum", "CHARTDATE": "2150-01-02", "TEXT": "second"},
            {"CATEGORY": "Nursing", "TEXT": "a nurse"},
            {"ISERROR": "1", "TEXT": "an error"},
            {"HADM_ID": "", "TEXT": "no admission"},
            {"CHARTDATE": "2150-03-01", "TEXT": "  first\nof all "},
        ],
    )
    assert words(list(read_anemia(folder, "train"))) == {"first of all second third": "acute"}


@pytest.mark.parametrize(
    ("summary", "cleaned"),
    [
        ("Mr. [**Known lastname 12**] was Seen", "mr. <DE> was seen"),
        ("on [**2150-1-2**], at\n[**Hospital1 **]", "on <DE> , at <DE>"),
        ("stable!!! ... then -- - --- more ______ end", "stable ! . then - more _ end"),
        ("a, b. c", "a , b. c"),
    ],
)
def test_summaries_are_cleaned(summary: str, cleaned: str) -> None:
    assert " ".join(clean(summary)) == cleaned


def test_a_row_with_an_empty_field_gives_no_code(folder: Path) -> None:
    path = folder / "DIAGNOSES_ICD.csv"
    path.write_text(path.read_text() + "9,7,100,,28521\n")
    assert "note 100 ." in words(list(read_anemia(folder, "train")))


def test_both_tasks_load_with_notes_plain_or_gzipped(tmp_path: Path) -> None:
    root = tmp_path / "root" / "mimic"
    root.mkdir(parents=True)
    admissions = [str(number) for number in range(200, 260)]
    write_diagnoses(
        root / "DIAGNOSES_ICD.csv",
        {
            number: ["2851" if int(number) % 2 else "28521", "25000" if int(number) % 3 else "4019"]
            for number in admissions
        },
    )
    write_notes(root / "NOTEEVENTS.csv", [{"HADM_ID": number, "TEXT": invented(number, 30)} for number in admissions])
    for at, split in enumerate(("train", "dev", "test")):
        (root / f"{split}_50_hadm_ids.csv").write_text("\n".join(admissions[at * 20 : at * 20 + 20]) + "\n")
    plain = [load(task, cache=tmp_path, root=tmp_path / "root") for task in (ANEMIA, DIABETES)]
    notes = root / "NOTEEVENTS.csv"
    (root / "NOTEEVENTS.csv.gz").write_bytes(gzip.compress(notes.read_bytes()))
    notes.unlink()
    zipped = [load(task, cache=tmp_path, root=tmp_path / "root") for task in (ANEMIA, DIABETES)]
    assert [data.fingerprint for data in plain] == [data.fingerprint for data in zipped]
    anemia, diabetes = plain
    assert anemia.cut == ("dev", "test")
    assert [anemia.counts[split].per_class["acute"] for split in ("train", "dev", "test")] == [20, 4, 6]
    assert diabetes.cut == ()
    assert [diabetes.counts[split].used for split in ("train", "dev", "test")] == [20, 20, 20]
    assert "<DE>" in anemia.vocabulary.words
    assert "qqq" not in anemia.vocabulary.words
    # No admission number leaves the reader.
    assert not any(number in example.id.split("-") for example in anemia.splits["train"] for number in admissions)


def test_memory_does_not_grow_with_notes_that_are_not_asked_for(folder: Path) -> None:
    nursing = invented("nursing", 2000)
    write_notes(folder / "NOTEEVENTS.csv", ({"CATEGORY": "Nursing", "TEXT": nursing} for _ in range(1500)))
    with (folder / "NOTEEVENTS.csv").open("a") as file:
        file.write('1500,7,100,2150-01-01,,,Discharge summary,Report,,,"at the end"\n')
    clean("the tokeniser is loaded before memory is measured")
    tracemalloc.start()
    records = list(read_anemia(folder, "train"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert words(records) == {"at the end": "acute"}
    assert (folder / "NOTEEVENTS.csv").stat().st_size > 15e6
    assert peak < 2e6


PRIVATE = "Mary Smith has a secret"


def test_no_error_quotes_a_note(folder: Path) -> None:
    notes = folder / "NOTEEVENTS.csv"
    whole = notes.read_text()
    header = whole.splitlines()[0]
    broken = {
        "without a header": f'1,7,100,2150-01-01,,,Discharge summary,Report,,,"{PRIVATE}"\n',
        "a column short": whole.replace(",TEXT", "", 1).replace("Note 100.", PRIVATE),
        "a field short": f'{header}\n1,7,100,,,Discharge summary,Report,,,"{PRIVATE}"\n',
        "never closed": f'{header}\n1,7,100,2150-01-01,,,Discharge summary,Report,,,"{PRIVATE}\n',
        "another description": f'{header}\n1,7,100,2150-01-01,,,Discharge summary,{PRIVATE},,,"{PRIVATE}"\n',
    }
    for what, content in broken.items():
        notes.write_text(content)
        with pytest.raises(DataError, match=r"NOTEEVENTS\.csv, line [12]") as caught:
            list(read_anemia(folder, "train"))
        assert PRIVATE not in str(caught.value), what


def test_a_listed_admission_without_a_summary_is_an_error(folder: Path) -> None:
    (folder / "dev_50_hadm_ids.csv").write_text("102\n104\n999\n")
    with pytest.raises(DataError, match=r"2 of the 3 admissions of dev_50_hadm_ids\.csv"):
        list(read_diabetes(folder, "dev"))
    (folder / "dev_50_hadm_ids.csv").write_text("HADM_ID\n102\n")
    with pytest.raises(DataError, match=r"dev_50_hadm_ids\.csv, line 1: no HADM_ID"):
        list(read_diabetes(folder, "dev"))


def test_missing_files_name_the_licence_step(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"(?s)NOTEEVENTS\.csv.*DIAGNOSES_ICD\.csv.*train_50_hadm_ids\.csv") as caught:
        load(DIABETES, cache=tmp_path, root=tmp_path)
    for part in ("physionet.org", "sign the data use agreement", "credentialed"):
        assert part in str(caught.value)


@pytest.mark.data
def test_invented_files_have_the_published_columns(data_root: Path) -> None:
    for table, columns in (("NOTEEVENTS", NOTE_COLUMNS), ("DIAGNOSES_ICD", DIAGNOSIS_COLUMNS)):
        header = (data_root / "mimic-schema" / f"{table}.header.csv").read_text().strip()
        assert header == ",".join(f'"{column}"' for column in columns)


def test_both_are_private() -> None:
    assert DIABETES.private
    assert ANEMIA.private
