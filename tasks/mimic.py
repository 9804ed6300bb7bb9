"""Diabetes, and acute or chronic anemia, in discharge summaries of MIMIC-III 1.4 (Johnson et al. 2016).

Cohorts and cleaning are those of Jain & Wallace 2019. Diabetes has the splits of the published lists of admissions
(Mullenbach et al. 2018, the 50 most frequent codes). For anemia they drew test and dev at random; here the same shares
are cut off by content.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from faithboard.data.text import tokenise
from faithboard.errors import DataError
from faithboard.readers.files import required
from faithboard.readers.mimic import read_admissions, read_codes, read_summaries
from faithboard.task import Record, Source, Task, TextRules

NOTES = ("NOTEEVENTS.csv",)
DIAGNOSES = ("DIAGNOSES_ICD.csv",)
LISTS = {split: (f"{split}_50_hadm_ids.csv",) for split in ("train", "dev", "test")}
SOURCE = Source(
    title="MIMIC-III 1.4",
    citation="Johnson et al. 2016, MIMIC-III, a freely accessible critical care database",
    licence="PhysioNet Credentialed Health Data License 1.5.0: complete the required training, become a credentialed "
    "user and sign the data use agreement",
    url="https://physionet.org/content/mimiciii/1.4/",
    access="credentialed",
)
PROFILE = {"vectors": "glove-6b-50d", "epochs": 8, "batch_size": 32, "loss_reduction": "sum", "weight_decay": 1e-5}
_DEIDENTIFIED = re.compile(r"\[ ?\* ?\*.*?\* ?\* ?\]")
_REPEATED = re.compile(r"([^a-zA-Z0-9])(?:\s*\1)+\s*")


def clean(summary: str) -> tuple[str, ...]:
    """Words of a summary, lower case, with `<DE>` for what was de-identified and repeated punctuation once."""
    text = " ".join(tokenise(summary).words).lower()
    text = _REPEATED.sub(r"\1 ", _DEIDENTIFIED.sub(" <DE> ", text))
    # Interned: the cohorts have some 20 million words and few different ones.
    return tuple(map(sys.intern, text.split()))


def _records(folder: Path, labels: Mapping[str, str]) -> Iterator[Record]:
    """Records of the admissions in `labels` that have a summary; named by content, for an id of MIMIC is protected."""
    for admission, summary in read_summaries(required(folder, NOTES), labels):
        yield Record("", clean(summary), labels[admission])


def read_anemia(folder: Path, split: str) -> Iterator[Record]:
    """Every admission with exactly one of acute (285.1) and chronic (285.2x) anemia."""
    if split != "train":
        return
    labels = {}
    for admission, codes in read_codes(required(folder, DIAGNOSES)).items():
        acute, chronic = (any(code.startswith(kind) for code in codes) for kind in ("285.1", "285.2"))
        if acute != chronic:
            labels[admission] = "acute" if acute else "chronic"
    yield from _records(folder, labels)


def read_diabetes(folder: Path, split: str) -> Iterator[Record]:
    """The admissions of the published list of the split: does one have the code 250.00?

    Raises DataError when one of them has no codes or no discharge summary.
    """
    listed = read_admissions(required(folder, LISTS[split]))
    codes = read_codes(required(folder, DIAGNOSES))
    labels = {
        admission: "diabetes" if any(code.startswith("250.00") for code in codes[admission]) else "other"
        for admission in listed
        if admission in codes
    }
    found = 0
    for record in _records(folder, labels):
        found += 1
        yield record
    if found < len(listed):
        raise DataError(
            f"{folder}: {len(listed) - found} of the {len(listed)} admissions of {LISTS[split][0]} have no codes or no "
            "discharge summary; is it the whole of MIMIC-III 1.4?"
        )


DIABETES = Task(
    name="mimic-diabetes",
    version=1,
    source=SOURCE,
    labels=("other", "diabetes"),
    folder="mimic",
    files={"notes": NOTES, "diagnoses": DIAGNOSES, **LISTS},
    read=read_diabetes,
    text=TextRules(lower=False, min_document_frequency=5, more_than=6, fewer_than=4000),
    performance="f1-positive",
    profile=PROFILE,
    published_rows={"train": 8_066, "dev": 1_573, "test": 1_729},
    family="mimic",
    private=True,
    description="Does the discharge summary tell of a patient with diabetes (250.00)? The lists of admissions are "
    "train_50_hadm_ids.csv, dev_50_hadm_ids.csv and test_50_hadm_ids.csv of github.com/jamesmullenbach/caml-mimic.",
)

ANEMIA = Task(
    name="mimic-anemia",
    version=1,
    source=SOURCE,
    labels=("chronic", "acute"),
    folder="mimic",
    files={"notes": NOTES, "diagnoses": DIAGNOSES},
    read=read_anemia,
    text=TextRules(lower=False, min_document_frequency=5, fewer_than=4000),
    cut={"dev": 0.12, "test": 0.2},
    performance="f1-positive",
    profile=PROFILE,
    # 4,283 acute and 2,562 chronic in the 2019 preparation.
    published_rows={"train": 4_655, "dev": 821, "test": 1_369},
    family="mimic",
    private=True,
    differences=("the paper draws test and dev split at random; here the same shares are cut off by content",),
    description="Is the anemia in the discharge summary acute (285.1) or chronic (285.2)?",
)
