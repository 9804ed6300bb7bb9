"""A file of `methods/` as a module, for tests of what is in it beside methods."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType


def module_of(file: str) -> ModuleType:
    path = Path(__file__).parents[2] / "methods" / file
    spec = importlib.util.spec_from_file_location(f"methods_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
