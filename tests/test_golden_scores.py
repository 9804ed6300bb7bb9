"""Scores of the methods on a tiny model, as numbers. They may only move together with `ENGINE_VERSION`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from faithboard import Method, Rng
from faithboard.keys import ENGINE_VERSION
from tests import toy

GOLDEN = Path(__file__).parent / "golden" / "scores.json"
TEXTS = ("good film", "bad bad dull film nice", "what bad | what good")


def scores_of(method: Method) -> list[list[float]]:
    batch = toy.texts(*TEXTS)
    found = method(toy.recurrent(), batch, Rng(0, batch)).scores
    return [[round(float(score), 6) for score in row[mask]] for row, mask in zip(found, batch.scorable, strict=True)]


@pytest.mark.parametrize("method", toy.builtin_methods().values(), ids=lambda method: method.name)
def test_scores_move_only_with_the_engine_version(method: Method) -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert golden["engine"] == ENGINE_VERSION, "write the golden scores anew for the new ENGINE_VERSION"
    assert method.name in golden["scores"], f"add {method.name}: python -m tests.test_golden_scores"
    for found, expected in zip(scores_of(method), golden["scores"][method.name], strict=True):
        torch.testing.assert_close(torch.tensor(found), torch.tensor(expected), rtol=1e-4, atol=2e-6)


def write() -> None:
    """Write the golden file for the current engine: `python -m tests.test_golden_scores`."""
    scores = {method.name: scores_of(method) for method in toy.builtin_methods().values()}
    content = {"engine": ENGINE_VERSION, "scores": scores}
    GOLDEN.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
