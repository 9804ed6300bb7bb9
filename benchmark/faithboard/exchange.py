"""Results of a suite as one file, to be taken to another results folder: those of several machines make one board.

The file is a zip of the records, predictions, scores and values of the results folder under the names they have there,
without a word of any text. Weights stay behind unless they are asked for: what is only to be ranked needs none. So do
speeds, which are those of a machine. The same results give the same bytes.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from faithboard.atomic import read_json, write_atomically, write_json
from faithboard.errors import StoreError
from faithboard.membership import members, merged
from faithboard.records import Explanation, ModelRecord
from faithboard.results import named_members
from faithboard.store import Store

_DAMAGE = (
    *(OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError),
    *(ValueError, TypeError, KeyError, AttributeError),
)
"""What reading raises for an archive that is damaged, encrypted or holds something else."""
_NAME = re.compile(r"(models|explanations|sources|suites)/[A-Za-z0-9_.-]+")
_EPOCH = (1980, 1, 1, 0, 0, 0)
_BESIDE = {"models": (".predictions.parquet", ".safetensors"), "explanations": (".scores.parquet", ".values.parquet")}
"""What lies beside a record. Records come last, so whatever has one is complete."""


@dataclass(frozen=True)
class Taken:
    """What was written or brought."""

    suite: str
    models: int
    explanations: int
    known: int = 0
    """Records that were here already: they stay, with what they lacked added."""
    rows: int = 0
    """Scores in further metrics, or in place of failed ones, added to explanations that were here."""
    other: int = 0
    """Explanations left out, since their place is taken: by other weights, data or settings of the model, or another
    version of the method."""


def export(store: Store, suite: str, path: Path, *, weights: bool = False) -> Taken:
    """Write the results of `suite` (`quick-v1`, or `quick` for its newest version) to `path`, at once.

    Raises SuiteError when there are none, and StoreError when the file cannot be written or a part is not here.
    """
    found = named_members(store, suite)
    name = f"{found.name}-v{found.version}"
    explanations = [one for one in map(store.explanation, found.explanations) if one is not None]
    models = [one for one in map(store.model, found.models) if one is not None]
    named = [one.provenance for one in explanations] + [one.provenance for one in models]
    sources = sorted({sha for provenance in named for sha in dict(provenance.get("sources") or {}).values()})
    files = [f"sources/{sha}{ending}" for sha in sources for ending in (".py", ".json")]
    for folder, keys in (("models", found.models), ("explanations", found.explanations)):
        endings = [ending for ending in _BESIDE[folder] if weights or ending != ".safetensors"]
        files += [f"{folder}/{key}{ending}" for key in sorted(keys) for ending in (*endings, ".json")]
    files.append(f"suites/{name}.json")
    needed = [file for one in explanations for file in _tables(one)]
    needed += [f"models/{one.key}.safetensors" for one in models if weights and one.status == "ok"]
    if missing := [file for file in needed if not (store.root / file).is_file()]:
        raise StoreError(
            f"{store.root} lacks {missing[0]} and {len(missing) - 1} more of {name}: results that came from another "
            "folder have no weights (export without --weights); what is damaged `faithboard run` computes again"
        )

    def write(temporary: Path) -> None:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in files:
                if (source := store.root / file).is_file():
                    archive.writestr(zipfile.ZipInfo(file, _EPOCH), source.read_bytes(), zipfile.ZIP_DEFLATED)

    write_atomically(path, write)
    return Taken(name, len(models), len(explanations))


def bring(store: Store, path: Path) -> list[Taken]:
    """Add the results of a file to a store; one entry per suite in it. What is here already stays as it is.

    Raises StoreError for a file that is no such archive, before anything is written, and SuiteError when results of a
    suite's name and version are here that were made with other seeds, examples or settings.
    """
    content = _read(path)
    suites = {name: json.loads(content[name]) for name in content if name.startswith("suites/")}
    together = {name: merged(_here(store.root / name), suites[name]) for name in suites}
    wanted = {entry["key"] for both in together.values() for entry in (*both["models"], *both["explanations"])}
    for name, data in content.items():
        if name.startswith("sources/") and not (store.root / name).is_file():
            _write(store.root / name, data)
    known, rows, left = set(), {}, set()
    for key in _keys(content, "models"):
        if key in wanted and (trained := store.model(key)) is not None:
            known.add(key)
            if _same(trained, ModelRecord.from_json(json.loads(content[f"models/{key}.json"]))):
                _complete(store, content, "models", key)
        elif key in wanted:
            _new(store, content, "models", key)
    for key in _keys(content, "explanations"):
        theirs = Explanation.from_json(json.loads(content[f"explanations/{key}.json"]))
        if (ours := store.explanation(key)) is not None:
            known.add(key)
            if _same(ours, theirs):
                _complete(store, content, "explanations", key)
                rows[key] = _add_rows(store, ours, theirs, content)
            continue
        model = store.model(theirs.model_key)
        if key in wanted and model is not None and not _others(theirs, model):
            _new(store, content, "explanations", key)
        else:
            left.add(key)
    found = []
    for name, both in together.items():
        both["explanations"] = [entry for entry in both["explanations"] if entry["key"] not in left]
        write_json(store.root / name, both)
        brought, standing = members(suites[name]), members(both)
        found.append(
            Taken(
                suite=f"{brought.name}-v{brought.version}",
                models=len(brought.models),
                explanations=len(brought.explanations),
                known=len(known & {*brought.models, *brought.explanations}),
                rows=sum(rows.get(key, 0) for key in brought.explanations),
                other=len(set(brought.explanations) - set(standing.explanations)),
            )
        )
    return found


def _others(explanation: Explanation, model: ModelRecord) -> bool:
    """Whether an explanation is of other weights than those of its model here."""
    return bool(explanation.weights_sha256) and explanation.weights_sha256 != model.weights_sha256


def _same(ours: ModelRecord | Explanation, theirs: ModelRecord | Explanation) -> bool:
    """Whether two records of one key ended alike, with the same weights."""
    return (ours.status, ours.weights_sha256) == (theirs.status, theirs.weights_sha256)


def _new(store: Store, content: Mapping[str, bytes], folder: str, key: str) -> None:
    """Write a record that is not here, and before it what lies beside it."""
    for file in (*_beside(content, folder, key), f"{folder}/{key}.json"):
        _write(store.root / file, content[file])


def _complete(store: Store, content: Mapping[str, bytes], folder: str, key: str) -> None:
    """Write what lies beside a record in the file and not here."""
    for file in _beside(content, folder, key):
        if not (store.root / file).is_file():
            _write(store.root / file, content[file])


def _beside(content: Mapping[str, bytes], folder: str, key: str) -> list[str]:
    return [file for ending in _BESIDE[folder] if (file := f"{folder}/{key}{ending}") in content]


def _tables(explanation: Explanation) -> list[str]:
    """The files beside an explanation without which its record says more than is there."""
    files = {
        ".scores.parquet": bool(explanation.method) and explanation.status == "ok",
        ".values.parquet": any(row.status == "ok" and row.n for row in explanation.rows),
    }
    return [f"explanations/{explanation.key}{ending}" for ending, needed in files.items() if needed]


def _add_rows(store: Store, ours: Explanation, theirs: Explanation, content: Mapping[str, bytes]) -> int:
    """Add to an explanation that is here the metrics in which only that of the file has a value; how many."""
    good = {row.metric for row in ours.rows if row.status == "ok"}
    fresh = [row for row in theirs.rows if row.status == "ok" and row.metric not in good]
    names = {row.metric for row in fresh}
    if not fresh:
        return 0
    values = None
    if (file := f"explanations/{theirs.key}.values.parquet") in content:
        values = pd.read_parquet(io.BytesIO(content[file]))
        values = values[values["metric"].isin(names)]
    kept = [row for row in ours.rows if row.metric not in names]
    store.save_explanation(replace(ours, rows=kept + fresh), values)
    return len(fresh)


def _keys(content: Iterable[str], folder: str) -> list[str]:
    return [name.removeprefix(f"{folder}/").removesuffix(".json") for name in content if _is_record(name, folder)]


def _is_record(name: str, folder: str) -> bool:
    return name.startswith(f"{folder}/") and name.endswith(".json")


def _read(path: Path) -> dict[str, bytes]:
    """File name -> content of an archive whose names and records are what they must be."""
    mend = "`faithboard export` writes such files"
    if not path.is_file():
        raise StoreError(f"there is no file {path}; {mend}")
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            strange = [name for name in names if not _NAME.fullmatch(name) or ".." in name]
            if strange:
                raise StoreError(f"{path} holds {strange[0]!r}, which no results folder has; {mend}")
            content = {name: archive.read(name) for name in names}
        needed: list[str] = []
        for name in content:
            if _is_record(name, "models"):
                ModelRecord.from_json(json.loads(content[name]))
            elif _is_record(name, "explanations"):
                needed += _tables(Explanation.from_json(json.loads(content[name])))
            elif name.startswith("suites/"):
                members(json.loads(content[name]))
    except _DAMAGE as error:
        raise StoreError(f"{path} cannot be read as results ({error}); {mend}") from error
    if missing := [file for file in needed if file not in content]:
        raise StoreError(f"{path} lacks {missing[0]}, of which it holds the record; {mend}")
    if not any(name.startswith("suites/") for name in content):
        raise StoreError(f"{path} holds the results of no suite; {mend}")
    return content


def _here(path: Path) -> Mapping[str, Any] | None:
    return read_json(path) if path.is_file() else None


def _write(path: Path, content: bytes) -> None:
    write_atomically(path, lambda temporary: temporary.write_bytes(content))
