"""What is promised of the package as a whole: its public names, its lean core, and its wheel."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import faithboard

ROOT = Path(__file__).resolve().parents[1]

LEAN = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked!r}:
            raise ImportError(f"{{name}} is blocked")

sys.meta_path.insert(0, Blocked())
import torch
from faithboard import Rng, predict
from faithboard.config import ModelConfig
from faithboard.metric import ProbeContext
from faithboard.metrics import COMPREHENSIVENESS
from faithboard.order import ranks
from faithboard.probes import ATTENTION_AGREEMENT
from faithboard.resolve import resolve
from faithboard.running.throughput import measure
from tests.toy import recurrent, texts

model, batch = recurrent(), texts("good film", "bad dull film | what", "nice film what bad")
for name in ("random", "attention", "gradient-l2", "gradient-x-input", "leave-one-out"):
    method = resolve("method", name).value
    scores = method(model, batch, Rng(0, batch)).scores
    order = ranks(scores, batch, Rng(1, batch).permutation())
    COMPREHENSIVENESS.masks(order, batch.scorable)
    measure(model, method, batch)
ATTENTION_AGREEMENT.probe(model, batch, ProbeContext(0, Rng(0, batch), 3.0, False))
import faithboard.data.collate, faithboard.models, faithboard.training, faithboard.plan, faithboard.stats
print("lean")
"""

OPTIONAL = {"pyarrow", "datasets", "safetensors", "jaxtyping", "mlflow", "spacy", "tabulate", "typer", "rich"}


def test_the_core_runs_with_torch_numpy_scipy_and_pandas_alone() -> None:
    code = LEAN.format(blocked=OPTIONAL)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "lean\n", done.stderr


def test_asking_for_help_does_not_import_torch() -> None:
    code = "import sys, faithboard.cli.app; assert 'torch' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_public_name_exists_and_is_listed() -> None:
    for name in faithboard.__all__:
        assert getattr(faithboard, name) is not None
    assert set(faithboard.__all__) == set(faithboard._MODULE_OF) | {"__version__"}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        faithboard.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_public_names_are_not_hidden_by_a_module_of_the_same_name() -> None:
    package = Path(faithboard.__file__).parent
    modules = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert not modules & set(faithboard.__all__)


@pytest.mark.parametrize("folder", ["tasks", "methods"])
def test_definitions_import_only_the_public_package(folder: str) -> None:
    import ast

    for path in (ROOT / folder).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                top = name.split(".")[0]
                assert top in {"faithboard", "torch"} | set(sys.stdlib_module_names), f"{path.name} imports {name}"


def test_the_wheel_holds_the_definitions_and_suites(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"faithboard/tasks/sst.py", "faithboard/methods/gradient.py", "faithboard/suites/quick.toml"} <= names
    assert "faithboard/py.typed" in names
    assert not [name for name in names if name.startswith("tests/")]
