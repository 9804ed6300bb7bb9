from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pandas as pd
import pytest
import torch

from faithboard import suites
from faithboard.errors import StoreError
from faithboard.records import Explanation, ModelRecord, Row
from faithboard.store import Store, write_atomically


def model(key: str = "m1") -> ModelRecord:
    return ModelRecord(
        key=key,
        task="toy",
        task_version=1,
        fingerprint="f",
        fingerprint_name="generated",
        model="bilstm-additive",
        training="standard",
        seed=0,
        config={"hidden": 4},
    )


def explanation(key: str = "e1", method: str = "attention", rows: list[Row] | None = None) -> Explanation:
    return Explanation(
        key=key,
        model_key="m1",
        task="toy",
        model="bilstm-additive",
        training="standard",
        seed=0,
        weights_sha256="w",
        method=method,
        rows=rows or [],
    )


def row(metric: str = "comprehensiveness", value: float = 0.5) -> Row:
    return Row(key="r", metric=metric, metric_version=1, parameters={"q": [1]}, better="higher", value=value, n=2)


def values(metric: str, *numbers: float) -> pd.DataFrame:
    return pd.DataFrame(
        [(metric, f"e{i}", number, [number]) for i, number in enumerate(numbers)],
        columns=["metric", "example", "value", "points"],
    )


def test_models_come_back_with_the_same_weights(tmp_path: Path) -> None:
    store = Store(tmp_path)
    weights = {"a": torch.randn(3, 2), "b": torch.arange(4.0).reshape(2, 2).t()}
    store.save_model(model(), weights)
    read = store.load_weights("m1")
    assert all(torch.equal(read[name], value) for name, value in weights.items())
    assert store.models() == [model()]


def test_missing_or_damaged_weights_are_named(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (tmp_path / "models" / "m1.safetensors").write_bytes(b"nonsense")
    for key in ("m1", "m2"):
        with pytest.raises(StoreError, match=f"{key}.safetensors"):
            store.load_weights(key)


def test_a_checkpoint_lives_until_its_model_is_done(tmp_path: Path) -> None:
    store, state = Store(tmp_path), {"history": [{"loss": 0.5}], "weights": {"a": torch.randn(3)}}
    assert store.checkpoint("m1") is None
    store.save_checkpoint("m1", state)
    read = store.checkpoint("m1")
    assert read is not None
    assert read["history"] == state["history"]
    assert torch.equal(read["weights"]["a"], state["weights"]["a"])  # type: ignore[index]
    store.save_model(model(), None)
    assert store.checkpoint("m1") is None
    assert store.model("m1") == model()
    assert store.model("m2") is None


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save_checkpoint("m1", {"weights": torch.arange(1000.0)})
    path = tmp_path / "models" / "m1.checkpoint"
    whole = path.read_bytes()
    one_bit = bytearray(whole)
    one_bit[whole.index(torch.tensor([500.0, 501.0]).numpy().tobytes())] ^= 1
    for content in (b"nonsense", whole[:700], bytes(one_bit)):
        path.write_bytes(content)
        with pytest.raises(StoreError, match=r"m1\.checkpoint is damaged"):
            store.checkpoint("m1")


def test_predictions_come_back(tmp_path: Path) -> None:
    store = Store(tmp_path)
    right = pd.DataFrame({"example": ["a", "b"], "right": [1.0, 0.0], "right_query_only": [float("nan")] * 2})
    store.save_model(model(), {"a": torch.zeros(1)}, right)
    pd.testing.assert_frame_equal(store.predictions("m1"), right)
    assert len(store.predictions("m2")) == 0


def test_explanations_come_back_with_rows_and_values(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save_explanation(explanation(rows=[row()]), values("comprehensiveness", 0.25, float("nan")))
    assert store.explanations() == [explanation(rows=[row()])]
    read = store.values("e1")
    assert read["value"].isna().tolist() == [False, True]
    assert list(read["points"][0]) == [0.25]


def test_a_new_metric_adds_values_and_a_repeated_one_replaces_its_own(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save_explanation(explanation(), values("one", 1.0, 2.0))
    store.save_explanation(explanation(), values("two", 3.0))
    store.save_explanation(explanation(), values("one", 4.0))
    read = store.values("e1")
    assert sorted(zip(read["metric"], read["value"], strict=True)) == [("one", 4.0), ("two", 3.0)]


def test_parts_live_until_the_explanation_is_done(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.part("e1", 0) is None
    part = pd.DataFrame({"example": ["a"], "draw": [0], "scores": [[0.5, -1.0]], "total": [float("nan")]})
    store.save_part("e1", 0, part)
    read = store.part("e1", 0)
    assert read is not None
    assert list(read["scores"][0]) == [0.5, -1.0]
    store.save_explanation(explanation())
    assert store.part("e1", 0) is None


def members(store: Store) -> tuple[list[str], list[str]]:
    (found,) = store.suites()
    return sorted(found.models), sorted(found.explanations)


def test_a_suite_keeps_the_latest_explanation_of_each_method(tmp_path: Path) -> None:
    store, quick = Store(tmp_path), suites.load("quick")
    store.save_model(model(), None)
    for one in (explanation("e1"), explanation("e2", method="random"), explanation("e3")):
        store.save_explanation(one)
    store.add_to_suite(quick, ["comprehensiveness"], "m1", ["e1", "e2"])
    store.add_to_suite(quick, ["comprehensiveness"], "m1", ["e3"])
    assert members(store) == (["m1"], ["e2", "e3"])


def test_a_suite_never_mixes_data_or_settings_of_one_model(tmp_path: Path) -> None:
    store, quick = Store(tmp_path), suites.load("quick")
    old, second_seed = model("m1"), dataclasses.replace(model("m2"), seed=1)
    other_data = dataclasses.replace(model("m3"), fingerprint="g")
    elsewhere = dataclasses.replace(model("m4"), task="other")
    for record, key in ((old, "e1"), (second_seed, "e2"), (elsewhere, "e4"), (other_data, "e3")):
        store.save_model(record, None)
        store.save_explanation(dataclasses.replace(explanation(key), model_key=record.key))
        store.add_to_suite(quick, ["comprehensiveness"], record.key, [key])
    assert members(store) == (["m3", "m4"], ["e3", "e4"])


def test_explanations_of_a_model_that_was_never_trained_are_no_results(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save_explanation(explanation())
    store.add_to_suite(suites.load("quick"), ["comprehensiveness"], "m1", ["e1"])
    assert store.suites() == []


def test_a_killed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text("old")

    def killed(temporary: Path) -> None:
        temporary.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, killed)
    assert path.read_text() == "old"


def test_a_full_disk_is_one_error_and_leaves_nothing(tmp_path: Path) -> None:
    def full(temporary: Path) -> None:
        temporary.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(StoreError, match="No space left"):
        write_atomically(tmp_path / "file.json", full)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot be written.*--results"):
        Store(tmp_path / "file" / "results")
    with pytest.raises(StoreError, match="there is no results folder"):
        Store(tmp_path / "none", writable=False)


def test_records_of_other_versions_still_load(tmp_path: Path) -> None:
    store = Store(tmp_path)
    stored = explanation(rows=[row()]).to_json() | {"a field of tomorrow": 1}
    del stored["truncated"]
    (tmp_path / "explanations" / "e1.json").write_text(json.dumps(stored))
    assert store.explanations() == [explanation(rows=[row()])]


def test_a_damaged_record_says_which_file(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (tmp_path / "models" / "m1.json").write_text("{")
    with pytest.raises(StoreError, match=r"m1\.json cannot be read"):
        store.models()
