"""Figures are drawn from what is there, and the same numbers give the same bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from faithboard.reproduction.attention.figures import draw
from faithboard.reproduction.attention.lines import HeatmapLine
from faithboard.reproduction.style import density
from tests.reproduction.attention import invented
from tests.reproduction.attention.invented import LABELS

HEATMAP = HeatmapLine(
    "sst", "bilstm-additive", 0, "e000", "positive", ["cost", "$5", "good"], [0.1, 0.2, 0.7], [0.7, 0.2, 0.1], 0.3, 0.01
)


def test_every_figure_is_drawn_as_svg_and_png_and_twice_the_same(tmp_path: Path) -> None:
    models = [invented.full("sst", "bilstm-additive", 0.4)]
    published: dict[tuple[str, str, int | None], float] = {("sst", "bilstm-additive", 1): 0.5}
    drawn = draw(models, [HEATMAP], LABELS, published, tmp_path / "a")
    assert [line.name for line in drawn] == [
        "tau-attention-gradient",
        "tau-attention-loo",
        "differences",
        "permutation",
        "max-jsd",
        "attention-examples",
    ]
    assert draw(models, [HEATMAP], LABELS, published, tmp_path / "b") == drawn
    for line in drawn:
        for kind, start in (("svg", b"<?xml"), ("png", b"\x89PNG")):
            first, second = (tmp_path / folder / f"{line.name}.{kind}" for folder in "ab")
            assert first.read_bytes().startswith(start)
            assert first.read_bytes() == second.read_bytes()
    assert "$5" in (tmp_path / "a" / "attention-examples.svg").read_text()


def test_without_values_there_is_no_figure(tmp_path: Path) -> None:
    assert draw([], [], {}, {}, tmp_path) == []
    only_average = [invented.full("sst", "average-additive", 0.4)]
    names = [line.name for line in draw(only_average, [], LABELS, {}, tmp_path)]
    assert names == ["tau-attention-gradient", "tau-attention-loo"]


def test_density_integrates_to_one_and_is_nothing_for_equal_values() -> None:
    grid = np.linspace(-5, 5, 1001)
    values = np.random.default_rng(0).normal(size=200)
    assert density(values, grid).sum() * 0.01 == pytest.approx(1, abs=1e-3)
    assert density(np.full(9, 0.3), grid).max() == 0
