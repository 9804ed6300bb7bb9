"""A definition as it stands in a module: what it is, where, and the hash of all the code it is made of."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from faithboard.attribution import Method
from faithboard.captum import CaptumExplain
from faithboard.classifier import Classifier
from faithboard.errors import ResolveError
from faithboard.importing import file_sha256
from faithboard.metric import Metric
from faithboard.submitted import ModelDefinition, finished
from faithboard.task import Task
from faithboard.training.definition import Training

Kind = Literal["task", "method", "metric", "training", "model"]

TYPES: dict[Kind, tuple[type, ...]] = {
    "task": (Task,),
    "method": (Method,),
    "metric": (Metric,),
    "training": (Training,),
    "model": (ModelDefinition, Classifier),
}
_ENGINE = ("faithboard", "captum")
"""Packages whose code is told by a version and not by its files."""


@dataclass(frozen=True)
class Resolved:
    """A definition and where it stands."""

    name: str
    value: Any
    """A Task, Method, Metric, Training or ModelDefinition, as asked."""
    origin: str
    """Path of the file, for messages."""
    sha256: str
    """Hash of that file alone, or of all parts where there are more: the files of `code`, the base of a variant, the
    version of Captum, the files that a model names, its weights when it is finished."""
    code: tuple[str, ...] = ()
    """Python files that define its functions or its class, where they are others than `origin`."""


def defined(value: Any, path: Path) -> Resolved:
    """A definition of the engine's own, whose function stands in the same file."""
    return Resolved(value.name, value, str(path), file_sha256(path))


def submitted(kind: Kind, value: Any, path: Path, reference: str) -> Resolved:
    """What the module at `path` offers as `reference`, a value of one of the `TYPES` of its kind.

    Code may stand in another file than the one that is named, as when a package takes it into its `__init__.py`: both
    are part of what it is. Raises ResolveError for a file that a model names and that is not there.
    """
    code = _code(value, path)
    parts = [file_sha256(Path(file)) for file in (str(path), *code)]
    if isinstance(value, Method) and isinstance(value.explain, CaptumExplain):
        parts.append(_captum_sha256())
    if kind == "model":
        value, more = _model(value, path, reference)
        parts += more
    return Resolved(value.name, value, str(path), hash_of(parts), code)


def definitions(kind: Kind, module: ModuleType) -> Iterator[Resolved]:
    """What a module of built-in definitions defines, in its order."""
    path = Path(module.__file__ or "")
    for attribute in attributes(kind, module):
        yield defined(getattr(module, attribute), path)


def attributes(kind: Kind, module: ModuleType) -> list[str]:
    """Names under which a module holds definitions of a kind, the first of each."""
    seen: set[int] = set()
    names = []
    for attribute, value in vars(module).items():
        if is_a(kind, value) and id(value) not in seen:
            seen.add(id(value))
            names.append(attribute)
    return names


def is_a(kind: Kind, value: object) -> bool:
    """Whether a value is a definition of a kind; a finished `Classifier` is a model."""
    return isinstance(value, TYPES[kind])


def hash_of(parts: list[str]) -> str:
    """The hash of a single part as it is, or one of them all."""
    return parts[0] if len(parts) == 1 else hashlib.sha256("".join(parts).encode()).hexdigest()


def _code(value: Any, path: Path) -> tuple[str, ...]:
    """The files other than `path` in which the functions of a definition, and its class, are written."""
    # What a method plans to cost changes no score.
    held = [] if isinstance(value, Classifier) else [getattr(value, one.name) for one in fields(value)]
    planned = getattr(value, "steps", None)
    found = [_file(one) for one in (type(value), *held) if callable(one) and one is not planned]
    return tuple(dict.fromkeys(str(file) for file in found if file is not None and file != path.resolve()))


def _file(function: Any) -> Path | None:
    """Where a function or class is written; None for the engine's own, and for one without a file."""
    while True:
        if isinstance(function, CaptumExplain):
            function = function.attribution
        elif isinstance(function, functools.partial):
            function = function.func
        elif inspect.ismethod(function):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            break
    if not (inspect.isfunction(function) or isinstance(function, type)):
        function = type(function)
    module = str(getattr(function, "__module__", ""))
    if module.partition(".")[0] in _ENGINE:
        return None
    # The place of its code stays right when a module is imported anew from a changed file.
    name = function.__code__.co_filename if inspect.isfunction(function) else _place(module)
    return Path(name).resolve() if name and Path(name).is_file() else None


def _place(module: str) -> str:
    return getattr(sys.modules.get(module), "__file__", None) or ""


def _captum_sha256() -> str:
    try:
        release = importlib.metadata.version("captum")
    except importlib.metadata.PackageNotFoundError:
        release = "unknown"
    return hashlib.sha256(f"captum {release}".encode()).hexdigest()


def _model(value: ModelDefinition | Classifier, path: Path, reference: str) -> tuple[ModelDefinition, list[str]]:
    """A model, and the hashes of what it has beside its code: weights when it is finished, the files it names."""
    from faithboard.running.weights import weights_sha256

    if isinstance(value, Classifier):
        return finished(reference.rpartition(":")[2], value), [weights_sha256(value.state_dict())]
    found = []
    for name in value.files:
        file = path.parent / name
        if not file.is_file():
            raise ResolveError(f"{reference}: {value.name} names the file {file}, which is not there")
        found.append(file_sha256(file))
    return value, found
