"""The source of a submission is stored beside its results."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from faithboard import suites
from faithboard.errors import StoreError
from faithboard.resolve import resolve
from faithboard.sources import Source, submitted_sources
from faithboard.store import Store
from tests import tiny

METHODS = """
from faithboard import Training, method, variant

@method("by-position", kind="sensitivity", signed=False, source="a test")
def first(model, batch, rng):
    return batch.scorable.cumsum(1).float()

guided = variant("gradient-l2", training="gentle")

def gentle(supervised, config, vocabulary):
    return lambda model, batch, labels, rng: supervised(model(batch).logits, labels, batch.candidates)

GENTLE = Training("gentle", gentle, source="a test")
"""
METRIC = """
import dataclasses
from faithboard.metrics import COMPREHENSIVENESS
MINE = dataclasses.replace(COMPREHENSIVENESS, name="mine")
"""


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_only_files_outside_the_package_are_submissions(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(METHODS)
    names = ["attention", f"{file}:first", "gradient-l2-saliency-guided", f"{file}:guided"]
    found = submitted_sources(("method", resolve("method", name)) for name in names)
    assert found == (Source(sha(METHODS), METHODS.encode(), ("method by-position", "method gradient-l2-gentle")),)
    assert submitted_sources([("task", resolve("task", "planted")), ("metric", resolve("metric", "sufficiency"))]) == ()


def test_a_run_stores_the_files_and_its_records_name_them(tmp_path: Path) -> None:
    own, metric, where = tmp_path / "own.py", tmp_path / "metric.py", tiny.place(tmp_path / "results")
    own.write_text(METHODS)
    metric.write_text(METRIC)
    task = sha(Path(tiny.TASK_FILE).read_text(encoding="utf-8"))
    chosen = suites.changed(
        tiny.SUITE,
        methods=["random", f"{own}:first", f"{own}:guided"],
        metrics=["comprehensiveness", f"{metric}:MINE"],
    )
    assert tiny.carried_out(chosen, where).failures == []
    records = {one.method: one for one in where.store.explanations() if one.training == "standard"}
    first = records["by-position"].provenance["sources"]
    assert first == {"task tiny": task, "method by-position": sha(METHODS), "metric mine": sha(METRIC)}
    assert records["by-position"].method_sha256 == first["method by-position"]
    assert records["random"].provenance["sources"] == {"task tiny": task, "metric mine": sha(METRIC)}
    for name, expected in first.items():
        assert sha(where.store.source(expected)) == expected, name
    models = {one.training: one.provenance["sources"] for one in where.store.models()}
    assert models["gentle"] == {"task tiny": task, "training gentle": sha(METHODS)}
    assert models["standard"] == {"task tiny": task}
    defines = json.loads((where.store.root / "sources" / f"{sha(METHODS)}.json").read_text())["defines"]
    assert defines == ["method by-position", "method gradient-l2-gentle", "training gentle"]


def test_the_file_of_the_code_is_stored_with_the_one_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "code_of_a_test.py").write_text(METHODS)
    monkeypatch.syspath_prepend(str(tmp_path))
    named = tmp_path / "named.py"
    named.write_text("from code_of_a_test import first\n")
    found = submitted_sources([("method", resolve("method", f"{named}:first"))])
    assert {source.content.decode(): source.defines for source in found} == {
        "from code_of_a_test import first\n": ("method by-position",),
        METHODS: ("method by-position (code of named.py)",),
    }


def test_a_changed_file_is_stored_beside_the_old_one(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for text in ("one = 1\n", "two = 2\n"):
        store.save_source(Source(sha(text), text.encode(), ("method m",)))
    assert store.source(sha("one = 1\n")) == "one = 1\n"
    assert store.source(sha("two = 2\n")) == "two = 2\n"


def test_what_a_file_defines_is_added_up(tmp_path: Path) -> None:
    store, text = Store(tmp_path), "x = 1\n"
    store.save_source(Source(sha(text), text.encode(), ("method b",)))
    store.save_source(Source(sha(text), text.encode(), ("method a",)))
    content = json.loads((tmp_path / "sources" / f"{sha(text)}.json").read_text())
    assert content == {"defines": ["method a", "method b"]}


def test_a_missing_or_damaged_source_is_named(tmp_path: Path) -> None:
    store, text = Store(tmp_path), "x = 1\n"
    with pytest.raises(StoreError, match="cannot be read"):
        store.source(sha(text))
    store.save_source(Source(sha(text), text.encode(), ()))
    (tmp_path / "sources" / f"{sha(text)}.py").write_text("x = 2\n")
    with pytest.raises(StoreError, match="not the file that was run"):
        store.source(sha(text))
