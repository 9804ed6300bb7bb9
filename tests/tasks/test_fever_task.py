from __future__ import annotations

import json
from pathlib import Path

import pytest

from faithboard.data import load, sample
from faithboard.readers.eraser import read_annotations
from faithboard.task import SPLITS
from tasks.fever import FEVER


def test_passages_have_plain_brackets_and_the_claim_is_the_query(tmp_path: Path) -> None:
    docs = tmp_path / "fever" / "docs"
    docs.mkdir(parents=True)
    (docs / "Caf\u00e9_-LRB-film-RRB-").write_text("Caf\u00e9 -LRB- film -RRB- is old .")
    (docs / "Other").write_text("It is seen .")
    span = {"docid": "Other", "start_token": 2, "end_token": 3, "text": "seen"}
    row = {
        "annotation_id": "7",
        "query": "Caf\u00e9 (film) isn't new.",
        "classification": "SUPPORTS",
        "docids": ["Caf\u00e9_-LRB-film-RRB-", "Other"],
        "evidences": [[span]],
        "query_type": None,
    }
    for name in ("train", "val", "test"):
        rows = [row, row | {"annotation_id": "8", "query": "It is new.", "classification": "REFUTES"}]
        (tmp_path / "fever" / f"{name}.jsonl").write_text("\n".join(json.dumps(one) for one in rows))
    example, _ = load(FEVER, cache=tmp_path, root=tmp_path).splits["test"]
    assert example.tokens == ("caf\u00e9", "(", "film", ")", "is", "old", ".", "it", "is", "seen", ".")
    assert example.query == ("caf\u00e9", "(", "film", ")", "is", "n't", "new", ".")
    assert example.rationale is not None
    assert [token for token, flag in zip(example.tokens, example.rationale, strict=True) if flag] == ["seen"]
    assert FEVER.labels[example.label] == "SUPPORTS"


@pytest.mark.data
def test_published_claims(tmp_path: Path, data_root: Path) -> None:
    data = load(FEVER, cache=tmp_path, root=data_root)
    # Training and dev claims here are those of the published dev file.
    assert {split: counts.used for split, counts in data.counts.items()} == {"train": 5_217, "dev": 905, "test": 6_111}
    of_dev = [data.counts["train"].per_class, data.counts["dev"].per_class]
    assert {label: sum(one[label] for one in of_dev) for label in FEVER.labels} == {"REFUTES": 3_103, "SUPPORTS": 3_019}
    assert data.counts["test"].per_class == {"REFUTES": 3_078, "SUPPORTS": 3_033}
    assert data.fingerprint_name == "shared-subset"
    assert {example.label for example in sample(data, "test", 16)} == {0, 1}
    for split in SPLITS:
        annotations = read_annotations(data_root / "fever", FEVER.files[split])
        for annotation, example in zip(annotations, data.splits[split], strict=True):
            marked = {at for start, end in annotation.evidence for at in range(start, end)}
            assert example.rationale is not None
            assert {at for at, flag in enumerate(example.rationale) if flag} == marked
            assert len(example.tokens) == len(annotation.tokens)
