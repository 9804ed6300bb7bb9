from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from faithboard.cli.preparing import described
from faithboard.data import load
from faithboard.published import datasets
from tests import tiny
from tests.cli.test_commands import command


def test_numbers_here_stand_beside_the_published_ones(tmp_path: Path) -> None:
    # The name of a published task and the content of a tiny one: every number differs.
    task = dataclasses.replace(
        tiny.TINY, name="sst", published_rows={"train": 6920}, differences=("the rules are not the paper's",)
    )
    data = load(task, cache=tmp_path)
    shown = described(data, 1.25)
    lines = {line.split("  ")[0]: line for line in shown.splitlines()}
    assert "UNVERIFIED DATA" in shown
    assert "(1.2 s)" in shown
    assert lines["vocabulary (with 5 special tokens)"].split()[-2:] == [f"{len(data.vocabulary):,}", "16,175"]
    per_class = data.counts["train"].per_class
    assert f"{per_class['north']} / {per_class['south']}" in lines["train: north / south"]
    assert "3,034 / 3,321" in lines["train: north / south"]
    assert "- train: 400 rows used of 400 here; 6,920 published" in shown
    assert "- the rules are not the paper's" in shown


def test_a_split_that_is_cut_off_is_said(tmp_path: Path) -> None:
    task = dataclasses.replace(
        tiny.TINY,
        generate=lambda split: tiny.generate(split) if split == "train" else [],
        cut={"dev": 0.1, "test": 0.2},
    )
    assert "dev and test: not in the data; cut off" in described(load(task, cache=tmp_path), 0.0)


def test_a_task_outside_the_paper_has_no_published_numbers(tmp_path: Path) -> None:
    shown = described(load(tiny.TINY, cache=tmp_path), 0.0)
    assert shown.splitlines()[3].split()[-1] == "-"


def test_a_task_that_fails_does_not_stop_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("prepare", "sst", "planted", "--results", tmp_path) == 2
    shown = capsys.readouterr()
    assert "planted: generated" in shown.out
    assert "task sst" in shown.err


def test_an_incomplete_folder_is_not_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sst").mkdir()
    assert command("list", "tasks", "--data", tmp_path) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("sst "))
    assert line.endswith("incomplete")


def test_prepare_names_what_is_not_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("prepare", "planted", "--results", tmp_path) == 0
    assert "generated, from generated" in capsys.readouterr().out
    assert command("prepare", "sst", "--results", tmp_path) == 2
    assert "https://" in capsys.readouterr().err


def test_the_published_table_is_whole() -> None:
    rows = datasets()
    assert len(rows) == 12
    assert rows["sst"].train_per_class == (3034, 3321)
    assert rows["babi-1"].train_per_class == (10000,)
    assert rows["snli"].test_per_class == (3219, 3237, 3368)
    assert rows["cnn-qa"].average_length == 761
