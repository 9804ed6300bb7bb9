"""The source of what was submitted: files outside this package that define a task, model, method, metric or training.

A result can only be read years later if the code behind it is still there, so it is stored beside the result.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import faithboard
from faithboard.resolve import Kind, Resolved, definitions_folder


@dataclass(frozen=True)
class Source:
    """One file of a person's own, as it was when a run was planned."""

    sha256: str
    content: bytes
    defines: tuple[str, ...]
    """What a run asked of it, each as kind and name: `method occlusion-by-unk`."""


def submitted_sources(definitions: Iterable[tuple[Kind, Resolved]]) -> tuple[Source, ...]:
    """Each Python file outside the package that defines one of `definitions`. Data files are no source.

    A file that holds only the code of one, which another file offers, says so: `method m (code of __init__.py)`.
    """
    defines: dict[Path, list[str]] = defaultdict(list)
    for kind, one in definitions:
        name = f"{kind} {one.name}"
        for file in (one.origin, *one.code):
            path = Path(file)
            if path.suffix == ".py" and path.is_file() and not _built_in(path):
                defines[path].append(name if file == one.origin else f"{name} (code of {Path(one.origin).name})")
    return tuple(_source(path, names) for path, names in defines.items())


def _source(path: Path, names: Iterable[str]) -> Source:
    content = path.read_bytes()
    return Source(hashlib.sha256(content).hexdigest(), content, tuple(dict.fromkeys(names)))


def _built_in(path: Path) -> bool:
    folders = (Path(faithboard.__file__).parent, definitions_folder("task"), definitions_folder("method"))
    return any(path.resolve().is_relative_to(folder.resolve()) for folder in folders)
