"""Results taken from one folder to another: complete, the same bytes, and never over what is there."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest
import torch

from faithboard.errors import StoreError, SuiteError
from faithboard.exchange import Taken, bring, export
from faithboard.records import Explanation, ModelRecord, Row
from faithboard.results import board_of, results_of
from faithboard.store import Store
from faithboard.suites import Suite
from tests import tiny

SUITE = dataclasses.replace(tiny.SUITE, seeds=(0, 1))
METRICS = ("comprehensiveness", "precision@k")
CODE = b"METHOD = 1\n"
SHA = hashlib.sha256(CODE).hexdigest()


def model(seed: int = 0, **changes: object) -> ModelRecord:
    plain = ModelRecord(
        key=f"m{seed}",
        task="tiny",
        task_version=1,
        fingerprint="f",
        fingerprint_name="generated",
        model="bilstm-additive",
        training="standard",
        seed=seed,
        config={"hidden": 4},
        weights_sha256=f"w{seed}",
        performance={"accuracy": 0.9},
        performance_measure="accuracy",
        gate_passed=True,
        provenance={"device": "cpu"},
    )
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]


def explanation(of: ModelRecord, method: str, value: float = 0.5) -> Explanation:
    row = Row(key="r", metric=METRICS[0], metric_version=1, parameters={}, better="higher", value=value, n=2)
    return Explanation(
        key=f"{method}-{of.key}",
        model_key=of.key,
        task="tiny",
        model=of.model,
        training="standard",
        seed=of.seed,
        weights_sha256=of.weights_sha256,
        method=method,
        rows=[row],
        provenance={"device": "cpu", "sources": {"method mine": SHA}} if method == "mine" else {"device": "cpu"},
    )


def fill(store: Store, of: ModelRecord, *methods: str, suite: Suite = SUITE) -> None:
    right = pd.DataFrame({"example": ["a", "b"], "right": [1.0, 0.0], "right_query_only": [float("nan")] * 2})
    store.save_model(of, {"a": torch.ones(3)}, right)
    for method in methods:
        one = explanation(of, method)
        values = pd.DataFrame(
            [(METRICS[0], name, value, [value]) for name, value in (("a", 0.4), ("b", 0.6))],
            columns=["metric", "example", "value", "points"],
        )
        scores = pd.DataFrame({"example": ["a", "b"], "draw": [0, 0], "scores": [[0.1, 0.9]] * 2, "total": [0.0] * 2})
        store.save_scores(one.key, scores)
        store.save_explanation(one, values)
    store.add_to_suite(suite, METRICS, of.key, [f"{method}-{of.key}" for method in methods])


@pytest.fixture
def one(tmp_path: Path) -> Store:
    store = Store(tmp_path / "one")
    fill(store, model(0), "random", "mine")
    (tmp_path / "one" / "sources" / f"{SHA}.py").write_bytes(CODE)
    return store


def test_a_board_is_the_same_in_another_folder(one: Store, tmp_path: Path) -> None:
    assert export(one, "tiny", tmp_path / "r.zip") == Taken("tiny-v1", 1, 2)
    other = Store(tmp_path / "other")
    assert bring(other, tmp_path / "r.zip") == [Taken("tiny-v1", 1, 2)]
    assert board_of(results_of(other, "tiny-v1")) == board_of(results_of(one, "tiny-v1"))
    assert other.scores("mine-m0").equals(one.scores("mine-m0"))
    assert other.source(SHA) == CODE.decode()


def test_weights_stay_behind_unless_they_are_asked_for(one: Store, tmp_path: Path) -> None:
    export(one, "tiny-v1", tmp_path / "small.zip")
    export(one, "tiny-v1", tmp_path / "whole.zip", weights=True)
    small, whole = Store(tmp_path / "small"), Store(tmp_path / "whole")
    bring(small, tmp_path / "small.zip")
    bring(whole, tmp_path / "whole.zip")
    assert torch.equal(whole.load_weights("m0")["a"], torch.ones(3))
    with pytest.raises(StoreError):
        small.load_weights("m0")


def test_weights_that_come_later_are_added_where_they_are_those_of_the_record(one: Store, tmp_path: Path) -> None:
    export(one, "tiny-v1", tmp_path / "small.zip")
    export(one, "tiny-v1", tmp_path / "whole.zip", weights=True)
    here, other = Store(tmp_path / "here"), Store(tmp_path / "other")
    fill(other, model(0, weights_sha256="trained-elsewhere"), "random")
    (other.root / "models" / "m0.safetensors").unlink()
    bring(here, tmp_path / "small.zip")
    record = (here.root / "models" / "m0.json").read_bytes()
    assert bring(here, tmp_path / "whole.zip") == [Taken("tiny-v1", 1, 2, known=3)]
    bring(other, tmp_path / "whole.zip")
    assert torch.equal(here.load_weights("m0")["a"], torch.ones(3))
    assert (here.root / "models" / "m0.json").read_bytes() == record
    assert not other.has_weights("m0")


def test_tables_that_are_missing_here_come_from_the_file(one: Store, tmp_path: Path) -> None:
    export(one, "tiny", tmp_path / "r.zip")
    before = board_of(results_of(one, "tiny-v1"))
    for ending in ("scores", "values"):
        (one.root / "explanations" / f"random-m0.{ending}.parquet").unlink()
    bring(one, tmp_path / "r.zip")
    assert board_of(results_of(one, "tiny-v1")) == before


@pytest.mark.parametrize("ending", ["scores", "values"])
def test_a_record_without_its_table_is_neither_exported_nor_imported(one: Store, ending: str, tmp_path: Path) -> None:
    export(one, "tiny", tmp_path / "r.zip")
    table = f"explanations/random-m0.{ending}.parquet"
    with zipfile.ZipFile(tmp_path / "r.zip") as whole, zipfile.ZipFile(tmp_path / "part.zip", "w") as part:
        for name in whole.namelist():
            if name != table:
                part.writestr(name, whole.read(name))
    (one.root / table).unlink()
    with pytest.raises(StoreError, match=rf"lacks {table}"):
        export(one, "tiny", tmp_path / "again.zip")
    other = Store(tmp_path / "other")
    with pytest.raises(StoreError, match=rf"part.zip lacks {table}, of which it holds the record; `faithboard export`"):
        bring(other, tmp_path / "part.zip")
    assert not [path for path in other.root.rglob("*") if path.is_file()]


def test_the_same_results_give_the_same_bytes(one: Store, tmp_path: Path) -> None:
    export(one, "tiny", tmp_path / "a.zip")
    export(one, "tiny", tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_two_machines_make_one_board(one: Store, tmp_path: Path) -> None:
    other = Store(tmp_path / "other")
    fill(other, model(1), "random", "mine")
    export(one, "tiny", tmp_path / "r.zip")
    assert bring(other, tmp_path / "r.zip") == [Taken("tiny-v1", 1, 2)]
    assert {record.seed for record in results_of(other, "tiny-v1").models} == {0, 1}
    assert len(results_of(other, "tiny-v1").explanations) == 4


def test_what_is_here_stays_and_is_counted(one: Store, tmp_path: Path) -> None:
    export(one, "tiny", tmp_path / "r.zip")
    mine = dataclasses.replace(explanation(model(0), "random"), share_correct=0.25)
    one.save_explanation(mine)
    before = (one.root / "suites" / "tiny-v1.json").read_bytes()
    assert bring(one, tmp_path / "r.zip") == [Taken("tiny-v1", 1, 2, known=3)]
    assert one.explanation("random-m0") == mine
    assert (one.root / "suites" / "tiny-v1.json").read_bytes() == before


def test_scores_in_further_metrics_are_added_and_failed_ones_replaced(one: Store, tmp_path: Path) -> None:
    export(one, "tiny", tmp_path / "r.zip")
    whole = one.explanation("random-m0")
    assert whole is not None
    failed = dataclasses.replace(whole.rows[0], status="failed", value=None, reason="no memory")
    one.save_explanation(dataclasses.replace(whole, rows=[failed]))
    one.save_explanation(dataclasses.replace(explanation(model(0), "mine"), rows=[]))
    assert bring(one, tmp_path / "r.zip") == [Taken("tiny-v1", 1, 2, known=3, rows=2)]
    assert one.explanation("random-m0") == whole
    assert [row.status for e in one.explanations() for row in e.rows] == ["ok", "ok"]


def test_another_version_of_a_method_that_is_here_is_left_out_whole(one: Store, tmp_path: Path) -> None:
    export(one, "tiny", tmp_path / "r.zip")
    other = Store(tmp_path / "other")
    fill(other, model(0))
    newer = dataclasses.replace(explanation(model(0), "mine"), key="mine-again")
    other.save_explanation(newer)
    other.add_to_suite(SUITE, METRICS, "m0", ["mine-again"])
    assert bring(other, tmp_path / "r.zip") == [Taken("tiny-v1", 1, 2, known=1, other=1)]
    assert other.explanation("mine-m0") is None


def test_weights_that_are_not_here_cannot_be_exported(one: Store, tmp_path: Path) -> None:
    export(one, "tiny", tmp_path / "r.zip")
    other = Store(tmp_path / "other")
    bring(other, tmp_path / "r.zip")
    with pytest.raises(StoreError, match=r"lacks models/m0.safetensors.*without --weights"):
        export(other, "tiny", tmp_path / "w.zip", weights=True)
    assert not (tmp_path / "w.zip").exists()


def test_explanations_of_other_weights_are_left_out(one: Store, tmp_path: Path) -> None:
    export(one, "tiny", tmp_path / "r.zip")
    other = Store(tmp_path / "other")
    fill(other, model(0, weights_sha256="trained-elsewhere"), "random")
    (taken,) = bring(other, tmp_path / "r.zip")
    assert (taken.known, taken.other) == (2, 1)
    assert [e.method for e in results_of(other, "tiny-v1").explanations] == ["random"]
    assert other.explanation("mine-m0") is None


def test_models_of_other_settings_do_not_join_those_here(one: Store, tmp_path: Path) -> None:
    export(one, "tiny", tmp_path / "r.zip")
    other = Store(tmp_path / "other")
    fill(other, model(1, key="wider", config={"hidden": 8}), "random")
    (taken,) = bring(other, tmp_path / "r.zip")
    assert taken.other == 2
    assert [record.key for record in results_of(other, "tiny-v1").models] == ["wider"]


def test_suites_of_other_seeds_are_refused_before_anything_is_written(one: Store, tmp_path: Path) -> None:
    export(one, "tiny", tmp_path / "r.zip")
    other = Store(tmp_path / "other")
    fill(other, model(3, key="m3"), suite=dataclasses.replace(SUITE, seeds=(3,)))
    with pytest.raises(SuiteError, match="other seeds, examples or settings"):
        bring(other, tmp_path / "r.zip")
    assert other.model("m0") is None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("../models/m0.json", b"{}"),
        ("models/../../x.json", b"{}"),
        ("models/m0.json", b"{"),
        ("models/m0.json", json.dumps({"nothing": 1}).encode()),
        ("suites/tiny-v1.json", b"{}"),
    ],
)
def test_files_that_are_no_results_write_nothing(name: str, content: bytes, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "r.zip", "w") as archive:
        archive.writestr(name, content)
    store = Store(tmp_path / "store")
    with pytest.raises(StoreError, match="faithboard export"):
        bring(store, tmp_path / "r.zip")
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "r.zip"]


def test_a_damaged_archive_is_one_error_and_writes_nothing(one: Store, tmp_path: Path) -> None:
    export(one, "tiny", tmp_path / "r.zip")
    content = (tmp_path / "r.zip").read_bytes()
    said = []
    for at in range(60, len(content), 197):
        other = Store(tmp_path / f"other-{at}")
        damaged = bytes(255 - byte for byte in content[at : at + 8])
        (tmp_path / "damaged.zip").write_bytes(content[:at] + damaged + content[at + 8 :])
        try:
            bring(other, tmp_path / "damaged.zip")
        except StoreError as error:
            said.append((str(error), [path for path in other.root.rglob("*") if path.is_file()]))
    # A zip has bytes that mean nothing, such as the hour of a file.
    assert len(said) > 10
    assert all("faithboard export" in message and not written for message, written in said)


def test_what_is_no_archive_or_not_there_is_said(one: Store, tmp_path: Path) -> None:
    (tmp_path / "r.zip").write_bytes(b"no zip")
    for name, said in {"r.zip": "cannot be read as results", "none.zip": "there is no file .*none.zip"}.items():
        with pytest.raises(StoreError, match=said):
            bring(one, tmp_path / name)
    with pytest.raises(SuiteError, match="holds no results of suite 'quick'"):
        export(one, "quick", tmp_path / "r.zip")
