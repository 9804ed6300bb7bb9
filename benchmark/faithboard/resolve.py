"""From a name to a definition. Built-ins, installed packages and files outside the repository go through one door.

A reference is a built-in or installed name (`gradient-l2`), a file (`my_method.py:MyMethod`) or a module
(`package.module:attr`). Two definitions of one name are an error that names both places.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import faithboard
from faithboard.attribution import Method, joined
from faithboard.errors import FaithboardError, ResolveError, near
from faithboard.metric import Metric
from faithboard.task import Task
from faithboard.training.definition import Training

Kind = Literal["task", "method", "metric", "training"]

_TYPES: dict[Kind, type] = {"task": Task, "method": Method, "metric": Metric, "training": Training}


@dataclass(frozen=True)
class Resolved:
    """A definition and where it stands."""

    name: str
    value: Any
    """A Task, Method, Metric or Training, as asked."""
    origin: str
    """Path of the file, for messages."""
    sha256: str
    """Hash of that file."""


def resolve(kind: Kind, reference: str) -> Resolved:
    """The definition a reference leads to.

    Raises ResolveError for an unknown name (with near names), a file or attribute that is not there, a file that does
    not import, something of another type, or a name defined twice.
    """
    return _from_place(kind, reference) if ":" in reference else _from_name(kind, reference)


def resolve_all(kind: Kind, references: Iterable[str]) -> list[Resolved]:
    """Every reference in order, each once. Raises ResolveError when one name comes from two places."""
    found: dict[str, Resolved] = {}
    for reference in references:
        one = resolve(kind, reference)
        first = found.setdefault(one.name, one)
        if first.origin != one.origin or first.value != one.value:
            raise ResolveError(
                f"two {kind}s are called {one.name!r}: {first.origin} and {one.origin}; give one of them another name"
            )
        if ":" in reference and one.name in builtin(kind) and builtin(kind)[one.name].origin != one.origin:
            raise ResolveError(
                f"{reference} is called {one.name!r} like the built-in of {builtin(kind)[one.name].origin}; rename it"
            )
    return list(found.values())


def asked_trainings(methods: Iterable[Resolved], known: Sequence[Resolved]) -> list[Resolved]:
    """The trainings that methods ask for, each once: of `known`, built in, from the method's own file, or installed.

    Raises ResolveError as `resolve` does.
    """
    found: dict[str, Resolved] = {}
    for method in methods:
        name = method.value.training
        if asks_for_training(method.value) and name not in found:
            here = [*known, *builtin("training").values(), *_beside(method)]
            found[name] = next((one for one in here if one.name == name), None) or resolve("training", name)
    return list(found.values())


def asks_for_training(method: Method) -> bool:
    """Whether a method explains models of one training only, its own; any other explains those of the suite's."""
    return method.base is not None or method.training != "standard"


def _beside(method: Resolved) -> list[Resolved]:
    """The trainings that the file of a method defines as well."""
    modules = [module for module in sys.modules.values() if vars(module).get("__file__") == method.origin]
    # Of a file that changed since it was first imported the last content counts.
    return [one for module in modules[-1:] for one in _definitions("training", module)]


def builtin(kind: Kind) -> dict[str, Resolved]:
    """All built-in definitions of a kind by name. Raises ResolveError when two of them share one."""
    found: dict[str, Resolved] = {}
    for one in _builtin_files(kind) if kind in ("task", "method") else _builtin_values(kind):
        if one.name in found:
            raise ResolveError(
                f"two {kind}s are called {one.name!r}: {found[one.name].origin} and {one.origin}; rename one of them"
            )
        found[one.name] = one
    return {name: _with_base(one, found) for name, one in found.items()} if kind == "method" else found


def installed(kind: Kind) -> dict[str, importlib.metadata.EntryPoint]:
    """Entry points of other packages for a kind, not loaded yet. Raises ResolveError when two share a name."""
    found: dict[str, importlib.metadata.EntryPoint] = {}
    for point in importlib.metadata.entry_points(group=f"faithboard.{kind}s"):
        if point.name in found:
            raise ResolveError(
                f"two installed packages offer the {kind} {point.name!r}: {found[point.name].value} and "
                f"{point.value}; uninstall one of them"
            )
        found[point.name] = point
    return found


def _from_name(kind: Kind, name: str) -> Resolved:
    ours, theirs = builtin(kind), installed(kind)
    if name in ours and name in theirs:
        raise ResolveError(
            f"the {kind} {name!r} is built in ({ours[name].origin}) and offered by an installed package "
            f"({theirs[name].value}); refer to the latter as {theirs[name].value}"
        )
    if name in ours:
        return ours[name]
    if name in theirs:
        return _from_place(kind, theirs[name].value)
    if name.endswith(".py"):
        raise ResolveError(f"{name}: say which {kind} of the file, as in {name}:attribute")
    raise ResolveError(f"unknown {kind} {name!r}: {near(name, [*ours, *theirs])}")


def _from_place(kind: Kind, reference: str) -> Resolved:
    place, _, attribute = reference.rpartition(":")
    if place.endswith(".py"):
        module = load_file(Path(place))
    else:
        try:
            module = importlib.import_module(place)
        except ModuleNotFoundError as error:
            raise ResolveError(f"{reference}: cannot import module {place!r} ({error}); is it installed?") from error
        except Exception as error:
            raise ResolveError(f"{reference}: module {place!r} does not import:\n{shortened(error)}") from error
    if not hasattr(module, attribute):
        offered = [one.value for one in _definitions(kind, module)]
        hint = near(attribute, _attributes(kind, module)) if offered else f"the file defines no {kind}"
        raise ResolveError(f"{reference}: {place} has no attribute {attribute!r}; {hint}")
    value: Any = getattr(module, attribute)
    if not _is_a(kind, value):
        rule = "decorate the function with @method(...)" if kind == "method" else f"make it a {_TYPES[kind].__name__}"
        raise ResolveError(f"{reference} is a {type(value).__name__}, not a {kind}; {rule}")
    origin = Path(module.__file__ or place)
    found = Resolved(value.name, value, str(origin), _sha256(origin))
    return _with_base(found, {}) if kind == "method" else found


def _with_base(one: Resolved, known: Mapping[str, Resolved]) -> Resolved:
    """A variant joined with its base method, which is one of `known` or has a name; any other method as it is."""
    if one.value.base is None:
        return one
    base = known.get(one.value.base) or resolve("method", one.value.base)
    both = hashlib.sha256((one.sha256 + base.sha256).encode()).hexdigest()
    return Resolved(one.name, joined(one.value, base.value), one.origin, both)


def load_file(path: Path) -> ModuleType:
    """Import a Python file by path, once for each content of it. Raises ResolveError with a shortened traceback."""
    path = path.expanduser().resolve()
    if not path.is_file():
        raise ResolveError(f"there is no file {path}; a reference is file.py:attribute")
    name = (
        f"faithboard_definitions.{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}_{_sha256(path)[:8]}"
    )
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ResolveError(f"{path} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        if isinstance(error, FaithboardError):
            raise ResolveError(f"{path} does not import: {error}") from error
        raise ResolveError(f"{path} does not import:\n{shortened(error, path)}") from error
    return module


def shortened(error: BaseException, path: Path | None = None, frames: int = 3) -> str:
    """The last frames of a traceback (those in `path`, if any are) and the error, as a few lines."""
    if isinstance(error, SyntaxError) and error.filename:
        line = (error.text or "").strip()
        return f"  {Path(error.filename).name}:{error.lineno}: {line}\n  {type(error).__name__}: {error.msg}"
    stack = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in stack if path is not None and Path(frame.filename) == path]
    lines = [f"  {Path(f.filename).name}:{f.lineno} in {f.name}: {f.line}" for f in (own or list(stack))[-frames:]]
    return "\n".join([*lines, f"  {type(error).__name__}: {error}"])


def definitions_folder(kind: Kind) -> Path:
    """The folder of built-in definitions: beside the package in a wheel, at the top of a source checkout."""
    package = Path(faithboard.__file__).parent
    for folder in (package / f"{kind}s", package.parent.parent / f"{kind}s"):
        if folder.is_dir():
            return folder
    raise ResolveError(f"the folder of built-in {kind}s is missing from this installation; install faithboard again")


def _builtin_files(kind: Kind) -> Iterator[Resolved]:
    for path in sorted(definitions_folder(kind).glob("*.py")):
        yield from _definitions(kind, load_file(path))


def _builtin_values(kind: Kind) -> Iterator[Resolved]:
    from faithboard import metrics, probes, training

    for module in (metrics, probes) if kind == "metric" else (training,):
        path = Path(module.__file__ or "")
        for value in module.BUILTIN:
            yield Resolved(value.name, value, str(path), _sha256(path))


def _definitions(kind: Kind, module: ModuleType) -> Iterator[Resolved]:
    path = Path(module.__file__ or "")
    for attribute in _attributes(kind, module):
        value = getattr(module, attribute)
        yield Resolved(value.name, value, str(path), _sha256(path))


def _attributes(kind: Kind, module: ModuleType) -> list[str]:
    seen: set[int] = set()
    names = []
    for attribute, value in vars(module).items():
        if _is_a(kind, value) and id(value) not in seen:
            seen.add(id(value))
            names.append(attribute)
    return names


def _is_a(kind: Kind, value: object) -> bool:
    return isinstance(value, _TYPES[kind])


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
