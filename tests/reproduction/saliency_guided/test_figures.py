"""Curves are drawn of what is there, and the same numbers give the same bytes."""

from __future__ import annotations

from pathlib import Path

from faithboard.reproduction.saliency_guided.figures import by_training, draw
from faithboard.reproduction.saliency_guided.lines import CurveLine

SHARES = ["0%", "1%", "50%"]


def curve(training: str, method: str, metric: str = "comprehensiveness", task: str = "movies") -> CurveLine:
    return CurveLine(
        task, "bilstm-additive", training, method, metric, SHARES, [0.0, 0.1, 0.3], [0.0, 0.0, 0.2], [0.0, 0.2, 0.4]
    )


def test_each_method_has_a_figure_as_svg_and_png_and_twice_the_same(tmp_path: Path) -> None:
    curves = [
        curve(training, method, metric)
        for training in ("standard", "saliency-guided", "random-masking")
        for method in ("gradient-l2", "smoothgrad", "random")
        for metric in ("comprehensiveness", "sufficiency")
    ]
    drawn = draw(curves, tmp_path / "a")
    assert [line.name for line in drawn] == ["curves-gradient-l2", "curves-smoothgrad"]
    assert draw(curves, tmp_path / "b") == drawn
    for line in drawn:
        for kind, start in (("svg", b"<?xml"), ("png", b"\x89PNG")):
            first, second = (tmp_path / folder / f"{line.name}.{kind}" for folder in "ab")
            assert first.read_bytes().startswith(start)
            assert first.read_bytes() == second.read_bytes()


def test_a_panel_per_task_and_metric_has_a_line_per_training_and_the_band_of_a_random_order() -> None:
    curves = [
        curve("standard", "gradient-l2"),
        curve("saliency-guided", "gradient-l2"),
        curve("standard", "random"),
        curve("saliency-guided", "random"),
        curve("standard", "gradient-l2", "sufficiency", "fever"),
    ]
    figure = by_training(curves, "gradient-l2")
    shown = {axes.get_title(): axes for axes in figure.axes if axes.get_visible()}
    assert list(shown) == [
        "movies: comprehensiveness",
        "movies: sufficiency",
        "fever: comprehensiveness",
        "fever: sufficiency",
    ]
    movies = shown["movies: comprehensiveness"]
    assert [line.get_linestyle() for line in movies.lines] == ["-", "-", "--", "--"]
    assert len(movies.collections) == 1
    assert not shown["movies: sufficiency"].lines
    assert len(shown["fever: sufficiency"].lines) == 1


def test_random_orders_alone_make_no_figure(tmp_path: Path) -> None:
    assert draw([curve("standard", "random")], tmp_path) == []
    assert draw([], tmp_path) == []
