"""From a name to a definition. Built-ins, installed packages and files outside the repository go through one door.

A reference is a built-in or installed name (`gradient-l2`), a file (`my_method.py:MyMethod`), a module
(`package.module:attr`) or, for a task, a file of data (`my.csv`). Two definitions of one name are an error that names
both places.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import faithboard
from faithboard.attribution import Method, joined
from faithboard.definitions import TYPES, attributes, defined, definitions, hash_of, is_a, submitted
from faithboard.definitions import Kind as Kind
from faithboard.definitions import Resolved as Resolved
from faithboard.errors import ResolveError, near
from faithboard.importing import load_file, module_at
from faithboard.importing import shortened as shortened

_RULES = {
    "method": "decorate the function with @method(...)",
    "model": "decorate the function that makes it with @model(...), or make it a Classifier",
}
DATA_FILE = ".csv"
"""How a reference to a task of a person's own data ends."""


def resolve(kind: Kind, reference: str) -> Resolved:
    """The definition a reference leads to.

    Raises ResolveError for an unknown name (with near names), a file or attribute that is not there, a file that does
    not import, something of another type, or a name defined twice, and DataError for a file of data that is no task.
    """
    if kind == "task" and reference.endswith(DATA_FILE):
        return _from_data(reference)
    return _from_place(kind, reference) if ":" in reference else _from_name(kind, reference)


def resolve_all(kind: Kind, references: Iterable[str]) -> list[Resolved]:
    """Every reference in order, each once. Raises ResolveError when one name comes from two places."""
    found: dict[str, Resolved] = {}
    ours = builtin(kind)
    for reference in references:
        one = resolve(kind, reference)
        first = found.setdefault(one.name, one)
        if first.origin != one.origin or first.value != one.value:
            raise ResolveError(
                f"two {kind}s are called {one.name!r}: {first.origin} and {one.origin}; give one of them another name"
            )
        if one.name in ours and ours[one.name].origin != one.origin:
            raise ResolveError(
                f"{reference} is called {one.name!r} like the built-in of {ours[one.name].origin}; rename it"
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
    # A module that must not be imported stands there as None.
    modules = [module for module in sys.modules.values() if getattr(module, "__file__", None) == method.origin]
    # Of a file that changed since it was first imported the last content counts.
    path = Path(method.origin)
    return [
        submitted("training", getattr(module, attribute), path, f"{path}:{attribute}")
        for module in modules[-1:]
        for attribute in attributes("training", module)
    ]


def is_model(reference: str) -> bool:
    """Whether a reference leads to a model and not to a method.

    Raises ResolveError for a file that does not import, and for an attribute that is not there, with what there is.
    """
    if ":" not in reference:
        return reference in installed("model")
    place, _, attribute = reference.rpartition(":")
    module = module_at(place, reference)
    if not hasattr(module, attribute):
        raise ResolveError(_missing(reference, module, ("method", "model")))
    return is_a("model", getattr(module, attribute))


def submitted_models(references: Iterable[str]) -> dict[str, Resolved]:
    """Those of the references to models that lead to a definition; the others name reference models.

    Raises ResolveError as `resolve_all` does, and for a name that a reference model has.
    """
    from faithboard.models import names

    installed_here, reserved = installed("model"), names()
    asked = [one for one in references if ":" in one or one.endswith(".py") or one in installed_here]
    found = {reference: resolve("model", reference) for reference in asked}
    resolve_all("model", asked)
    for reference, one in found.items():
        if one.name in reserved:
            raise ResolveError(f"{reference} is called {one.name!r} like a reference model; rename it")
    return found


def builtin(kind: Kind) -> dict[str, Resolved]:
    """All built-in definitions of a kind by name; the reference models are none.

    Raises ResolveError when two share a name.
    """
    found: dict[str, Resolved] = {}
    if kind == "model":
        return found
    for one in _builtin_files(kind) if kind in ("task", "method") else _builtin_values(kind):
        if one.name in found:
            raise ResolveError(
                f"two {kind}s are called {one.name!r}: {found[one.name].origin} and {one.origin}; rename one of them"
            )
        found[one.name] = one
    return {name: _with_base(one, found) for name, one in found.items()} if kind == "method" else found


def installed(kind: Kind) -> dict[str, tuple[str, ...]]:
    """What other packages offer of a kind by entry points, not loaded: name -> `module:attribute`, mostly one.

    A name that two packages offer is an error for whoever asks for it, and for nobody else.
    """
    found: dict[str, tuple[str, ...]] = {}
    for point in importlib.metadata.entry_points(group=f"faithboard.{kind}s"):
        # A package that lies on the path twice offers the same thing twice.
        found[point.name] = tuple(dict.fromkeys([*found.get(point.name, ()), _place_of(point)]))
    return found


def _place_of(point: importlib.metadata.EntryPoint) -> str:
    """`module:attribute` of an entry point, without the extras that may stand behind."""
    return point.value.partition("[")[0].strip()


def _from_name(kind: Kind, name: str) -> Resolved:
    ours, theirs = builtin(kind), installed(kind)
    places = theirs.get(name, ())
    if name in ours and places:
        raise ResolveError(
            f"the {kind} {name!r} is built in ({ours[name].origin}) and offered by an installed package "
            f"({places[0]}); refer to the latter as {places[0]}"
        )
    if name in ours:
        return ours[name]
    if len(places) > 1:
        raise ResolveError(
            f"two installed packages offer the {kind} {name!r}: {' and '.join(places)}; uninstall one of them"
        )
    if places:
        if ":" not in places[0]:
            raise ResolveError(f"the entry point {name!r} is {places[0]!r}; its package must give module:attribute")
        return _from_place(kind, places[0])
    if name.endswith(".py"):
        raise ResolveError(f"{name}: say which {kind} of the file, as in {name}:attribute")
    raise ResolveError(f"unknown {kind} {name!r}: {near(name, [*ours, *theirs])}")


def _from_place(kind: Kind, reference: str) -> Resolved:
    place, _, attribute = reference.rpartition(":")
    module = module_at(place, reference)
    if not hasattr(module, attribute):
        raise ResolveError(_missing(reference, module, (kind,)))
    value: Any = getattr(module, attribute)
    if not is_a(kind, value):
        if isinstance(value, type):
            offered = "a finished Classifier" if kind in _RULES else f"a {TYPES[kind][0].__name__} made from it"
            decorated = "the function decorated with @model(...) or @method(...), or " if kind in _RULES else ""
            raise ResolveError(f"{reference} is a class; name {decorated}{offered}")
        rule = _RULES.get(kind, f"make it a {TYPES[kind][0].__name__}")
        raise ResolveError(f"{reference} is a {type(value).__name__}, not a {kind}; {rule}")
    found = submitted(kind, value, Path(module.__file__ or place), reference)
    return _with_base(found, {}) if kind == "method" else found


def _missing(reference: str, module: ModuleType, kinds: Sequence[Kind]) -> str:
    """What is said of an attribute that a module has not: near names, or all that there is."""
    place, _, attribute = reference.rpartition(":")
    offered = {kind: attributes(kind, module) for kind in kinds}
    names = [name for found in offered.values() for name in found]
    if len(kinds) == 1 or not names:
        hint = near(attribute, names) if names else f"the file defines no {' and no '.join(kinds)}"
    else:
        there = (f"{kind}s: {', '.join(found) or 'none'}" for kind, found in offered.items())
        hint = f"{near(attribute, names)} ({'; '.join(there)})"
    return f"{reference}: {place} has no attribute {attribute!r}; {hint}"


def _from_data(reference: str) -> Resolved:
    from faithboard.readers.csv_file import task_of

    path = Path(reference).expanduser().resolve()
    task = task_of(path)
    return defined(task, path)


def _with_base(one: Resolved, known: Mapping[str, Resolved]) -> Resolved:
    """A variant joined with its base method, which is one of `known` or has a name; any other method as it is."""
    if one.value.base is None:
        return one
    base = known.get(one.value.base) or resolve("method", one.value.base)
    code = dict.fromkeys([*one.code, *([] if base.origin == one.origin else [base.origin]), *base.code])
    both = hash_of([one.sha256, base.sha256])
    return dataclasses.replace(one, value=joined(one.value, base.value), sha256=both, code=tuple(code))


def definitions_folder(kind: Kind) -> Path:
    """The folder of built-in definitions: beside the package in a wheel, at the top of a source checkout."""
    package = Path(faithboard.__file__).parent
    for folder in (package / f"{kind}s", package.parent.parent / f"{kind}s"):
        if folder.is_dir():
            return folder
    raise ResolveError(f"the folder of built-in {kind}s is missing from this installation; install faithboard again")


def _builtin_files(kind: Kind) -> Iterator[Resolved]:
    for path in sorted(definitions_folder(kind).glob("*.py")):
        yield from definitions(kind, load_file(path))


def _builtin_values(kind: Kind) -> Iterator[Resolved]:
    from faithboard import metrics, probes, training

    for module in (metrics, probes) if kind == "metric" else (training,):
        path = Path(module.__file__ or "")
        for value in module.BUILTIN:
            yield defined(value, path)
