"""Python files and modules by their place: imported once for each content, with errors that name the file and line."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from faithboard.errors import FaithboardError, ResolveError

_ENGINE = Path(__file__).parent


def module_at(place: str, reference: str) -> ModuleType:
    """The module of a file (`my_method.py`) or of a name (`package.module`).

    Raises ResolveError, which says what `reference` was asked for, when there is none or it does not import.
    """
    if place.endswith(".py"):
        return load_file(Path(place))
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        raise ResolveError(f"{reference}: cannot import module {place!r} ({error}); is it installed?") from error
    except (Exception, SystemExit) as error:
        raise ResolveError(f"{reference}: module {place!r} does not import:\n{shortened(error)}") from error


def load_file(path: Path) -> ModuleType:
    """Import a Python file by path, once for each content of it. Raises ResolveError with a shortened traceback."""
    path = path.expanduser().resolve()
    if not path.is_file():
        raise ResolveError(f"there is no file {path}; a reference is file.py:attribute")
    place = hashlib.sha256(str(path).encode()).hexdigest()[:8]
    name = f"faithboard_definitions.{path.stem}_{place}_{file_sha256(path)[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ResolveError(f"{path} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        if isinstance(error, FaithboardError):
            raise ResolveError(f"{path} does not import: {error}") from error
        raise ResolveError(f"{path} does not import:\n{shortened(error, path)}") from error
    return module


def shortened(error: BaseException, path: Path | None = None, frames: int = 3) -> str:
    """The last frames of a traceback and the error, as a few lines.

    Frames in `path` alone, if any are; otherwise those of somebody's own file, without the engine's and torch's, if
    any are; otherwise all.
    """
    if isinstance(error, SyntaxError) and error.filename:
        line = (error.text or "").strip()
        return f"  {Path(error.filename).name}:{error.lineno}: {line}\n  {type(error).__name__}: {error.msg}"
    stack = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in stack if path is not None and Path(frame.filename) == path]
    own = own or [frame for frame in stack if not _of_the_engine(frame.filename)]
    lines = [f"  {Path(f.filename).name}:{f.lineno} in {f.name}: {f.line}" for f in (own or list(stack))[-frames:]]
    return "\n".join([*lines, f"  {type(error).__name__}: {error}"])


def _of_the_engine(filename: str) -> bool:
    """Whether a frame is of the engine or of torch; definitions that come with the engine are not."""
    path = Path(filename)
    if path.is_relative_to(_ENGINE):
        return path.relative_to(_ENGINE).parts[0] not in ("methods", "tasks")
    return "torch" in path.parts or filename.startswith("<frozen")


def file_sha256(path: Path) -> str:
    """Hash of the bytes of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
