from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from faithboard.errors import FaithboardError
from faithboard.report import files, markdown
from faithboard.stats import Board
from tests.report.example import example_board


@pytest.fixture(scope="module")
def board() -> Board:
    return example_board()


def test_what_is_written_is_read_back_and_regenerates_exactly(board: Board, tmp_path: Path) -> None:
    written = files.write(board, tmp_path)
    again = files.read(tmp_path / "quick-v1")
    assert again == board
    assert files.pages(again, tmp_path / "quick-v1") == {path: path.read_text(encoding="utf-8") for path in written}
    assert {path.name for path in (tmp_path / "quick-v1").iterdir()} == {
        *("README.md", "models.md", "metrics.md", "planted.md", "movies.md", "weak.md"),
        *("tables.jsonl", "rows.jsonl", "comparisons.jsonl.gz", "costs.jsonl", "probes.jsonl", "checks.jsonl"),
        *("sanity.jsonl", "method-agreement.jsonl.gz", "metric-agreement.jsonl"),
    }


def test_leaderboards_of_earlier_releases_are_read_too(board: Board, tmp_path: Path) -> None:
    files.write(board, tmp_path)
    for name in (files.SANITY, files.METHODS, files.METRICS):
        (tmp_path / "quick-v1" / name).unlink()
    again = files.read(tmp_path / "quick-v1")
    assert (again.sanity, again.method_agreement, again.metric_agreement) == ([], [], [])
    assert "metrics.md" not in files.render(again)


def test_words_around_the_block_survive_and_words_in_it_do_not(board: Board, tmp_path: Path) -> None:
    files.write(board, tmp_path)
    page = tmp_path / "quick-v1" / "planted.md"
    text = page.read_text(encoding="utf-8")
    page.write_text("my words\n\n" + text.replace("# quick v1: planted", "# my board"), encoding="utf-8")
    files.write(board, tmp_path)
    assert page.read_text(encoding="utf-8") == "my words\n\n" + text


def test_broken_markers_stop_before_anything_is_written(board: Board, tmp_path: Path) -> None:
    files.write(board, tmp_path)
    page = tmp_path / "quick-v1" / "planted.md"
    page.write_text(markdown.begin(files.BLOCK), encoding="utf-8")
    lines = tmp_path / "quick-v1" / files.ROWS
    lines.unlink()
    with pytest.raises(FaithboardError, match=r"planted\.md"):
        files.write(board, tmp_path)
    assert not lines.exists()


def test_a_broken_line_is_named(board: Board, tmp_path: Path) -> None:
    files.write(board, tmp_path)
    path = tmp_path / "quick-v1" / files.ROWS
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([first, "{", *rest]), encoding="utf-8")
    with pytest.raises(FaithboardError, match=r"rows\.jsonl, line 2: not a Standing"):
        files.read(tmp_path / "quick-v1")
    path.unlink()
    with pytest.raises(FaithboardError, match=r"rows\.jsonl cannot be read"):
        files.read(tmp_path / "quick-v1")


def test_a_board_without_tables_writes_nothing(tmp_path: Path) -> None:
    assert files.write(Board([], [], [], []), tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_another_version_has_a_folder_of_its_own(board: Board, tmp_path: Path) -> None:
    files.write(board, tmp_path)
    before = {path: path.read_bytes() for path in (tmp_path / "quick-v1").iterdir()}
    newer = replace(board, tables=[replace(table, suite_version=2) for table in board.tables])
    files.write(newer, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"quick-v1", "quick-v2"}
    assert {path: path.read_bytes() for path in (tmp_path / "quick-v1").iterdir()} == before


def test_pages_of_tasks_that_are_gone_keep_only_what_people_wrote(board: Board, tmp_path: Path) -> None:
    folder = tmp_path / "quick-v1"
    files.write(board, tmp_path)
    weak = folder / "weak.md"
    weak.write_text("my words\n\n" + weak.read_text(encoding="utf-8") + "\nmore words\n", encoding="utf-8")
    (folder / "notes.md").write_text("nothing generated\n", encoding="utf-8")
    left = replace(board, tables=[table for table in board.tables if table.task == "planted"])
    left = replace(left, standings=[standing for standing in board.standings if standing.task == "planted"])
    assert {path.name for path in files.write(left, tmp_path)} == {
        *("README.md", "models.md", "metrics.md", "planted.md"),
    }
    assert {path.name for path in folder.glob("*.md")} == {
        "README.md",
        "models.md",
        "metrics.md",
        "planted.md",
        "weak.md",
        "notes.md",
    }
    assert weak.read_text(encoding="utf-8") == "my words\n\nmore words\n"
    assert (folder / "notes.md").read_text(encoding="utf-8") == "nothing generated\n"


def test_broken_markers_of_a_page_that_is_gone_stop_before_anything_is_written(board: Board, tmp_path: Path) -> None:
    folder = tmp_path / "quick-v1"
    folder.mkdir()
    (folder / "gone.md").write_text(markdown.begin(files.BLOCK), encoding="utf-8")
    with pytest.raises(FaithboardError, match=r"gone\.md"):
        files.write(board, tmp_path)
    assert [path.name for path in folder.iterdir()] == ["gone.md"]


def test_lines_of_an_earlier_release_under_a_plain_name_go_when_the_compressed_ones_are_written(
    board: Board, tmp_path: Path
) -> None:
    folder = tmp_path / "quick-v1"
    folder.mkdir()
    (folder / "comparisons.jsonl").write_text("{}\n")
    files.write(board, tmp_path)
    assert not (folder / "comparisons.jsonl").exists()
    assert files.read(folder).comparisons == board.comparisons


def test_damaged_compressed_lines_are_named(board: Board, tmp_path: Path) -> None:
    files.write(board, tmp_path)
    path = tmp_path / "quick-v1" / "comparisons.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(FaithboardError, match=r"comparisons\.jsonl\.gz cannot be read.*faithboard report"):
        files.read(path.parent)
