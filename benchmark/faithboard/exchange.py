"""Results of a suite as one file, to be taken to another results folder: those of several machines make one board.

The file is a zip of the records, predictions, scores and values of the results folder under the names they have there,
without a word of any text. Weights stay behind unless they are asked for: what is only to be ranked needs none. The
same results give the same bytes.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faithboard.atomic import write_atomically, write_json
from faithboard.errors import StoreError
from faithboard.membership import members, merged
from faithboard.records import Explanation, ModelRecord
from faithboard.results import named_members
from faithboard.store import Store

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
    """Records that were here already: they stay as they are."""
    other: int = 0
    """Explanations left out, since their model is here with other weights, data or settings."""


def export(store: Store, suite: str, path: Path, *, weights: bool = False) -> Taken:
    """Write the results of `suite` (`quick-v1`, or `quick` for its newest version) to `path`, at once.

    Raises SuiteError when there are none and StoreError when the file cannot be written.
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
    here = {name: _json(store.root / name) for name in suites}
    together = {name: merged(here[name], suites[name]) for name in suites}
    known, left = _add_records(store, content)
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
                other=len(set(brought.explanations) - set(standing.explanations)),
            )
        )
    return found


def _add_records(store: Store, content: Mapping[str, bytes]) -> tuple[set[str], set[str]]:
    """Write what is not here; keys of the records that were, and of explanations of other weights."""
    known, left = set(), set()
    for name, data in content.items():
        if name.startswith("sources/") and not (store.root / name).is_file():
            _write(store.root / name, data)
    for folder in ("models", "explanations"):
        for key in _keys(content, folder):
            record = f"{folder}/{key}.json"
            if (store.root / record).is_file():
                known.add(key)
                continue
            if folder == "explanations":
                one = Explanation.from_json(json.loads(content[record]))
                model = store.model(one.model_key)
                if model is None or (one.weights_sha256 and model.weights_sha256 != one.weights_sha256):
                    left.add(key)
                    continue
            for ending in (*_BESIDE[folder], ".json"):
                if (file := f"{folder}/{key}{ending}") in content:
                    _write(store.root / file, content[file])
    return known, left


def _keys(content: Iterable[str], folder: str) -> list[str]:
    return [name.removeprefix(f"{folder}/").removesuffix(".json") for name in content if _is_record(name, folder)]


def _is_record(name: str, folder: str) -> bool:
    return name.startswith(f"{folder}/") and name.endswith(".json")


def _read(path: Path) -> dict[str, bytes]:
    """File name -> content of an archive whose names and records are what they must be."""
    mend = "`faithboard export` writes such files"
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            strange = [name for name in names if not _NAME.fullmatch(name) or ".." in name]
            if strange:
                raise StoreError(f"{path} holds {strange[0]!r}, which no results folder has; {mend}")
            content = {name: archive.read(name) for name in names}
        for name in content:
            if _is_record(name, "models"):
                ModelRecord.from_json(json.loads(content[name]))
            elif _is_record(name, "explanations"):
                Explanation.from_json(json.loads(content[name]))
            elif name.startswith("suites/"):
                members(json.loads(content[name]))
    except (OSError, zipfile.BadZipFile, ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreError(f"{path} cannot be read as results ({error}); {mend}") from error
    if not any(name.startswith("suites/") for name in content):
        raise StoreError(f"{path} holds the results of no suite; {mend}")
    return content


def _json(path: Path) -> Mapping[str, Any] | None:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def _write(path: Path, content: bytes) -> None:
    write_atomically(path, lambda temporary: temporary.write_bytes(content))
