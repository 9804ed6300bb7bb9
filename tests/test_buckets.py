"""Batches by length under a token budget."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from faithboard import buckets
from faithboard.buckets import token_batches, token_budget


@pytest.mark.parametrize("budget", [1, 7, 30, 10_000])
def test_every_text_once_and_never_over_the_budget(budget: int) -> None:
    lengths = torch.randint(0, 40, (200,), generator=torch.Generator().manual_seed(0))
    batches = list(token_batches(lengths, budget))
    assert sorted(int(i) for batch in batches for i in batch) == list(range(200))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * int(lengths[batch].max()) <= budget


def test_longest_first_and_equal_lengths_in_order() -> None:
    batches = [batch.tolist() for batch in token_batches(torch.tensor([4, 5, 4, 9]), 10)]
    assert batches == [[3], [1, 0], [2]]


@pytest.mark.parametrize("budget", [4_096, 8_192])
def test_padding_ends_a_batch_where_a_new_one_costs_less(budget: int) -> None:
    generator = torch.Generator().manual_seed(0)
    lengths = (21 + 9 * torch.randn(512, generator=generator)).round().long().clamp(5, 58)
    batches = list(token_batches(lengths, budget))

    def cost(widths_and_rows: list[tuple[int, int]]) -> int:
        """Steps of a recurrent pass: one text each, and ten for nothing."""
        return sum(width * (10 + rows) for width, rows in widths_and_rows)

    # Where batches are filled to the brim.
    full, start, descending = [], 0, lengths.sort(descending=True).values.tolist()
    while start < len(descending):
        rows = budget // descending[start]
        full.append((descending[start], len(descending[start : start + rows])))
        start += rows
    ours = [(int(lengths[batch].max()), len(batch)) for batch in batches]
    assert cost(ours) < 0.97 * cost(full)
    assert sum(width * rows for width, rows in ours) < 1.2 * int(lengths.sum())
    # And texts of one length go together whatever the cost.
    assert len(list(token_batches(torch.full((100,), 20), 2_000))) == 1


def test_a_text_over_the_budget_goes_alone() -> None:
    assert [batch.tolist() for batch in token_batches(torch.tensor([50, 3]), 4)] == [[0], [1]]


def test_no_texts_no_batches() -> None:
    assert list(token_batches(torch.tensor([], dtype=torch.long), 5)) == []


def test_a_budget_below_one_token_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        list(token_batches(torch.tensor([3]), 0))


CPU, CUDA = torch.device("cpu"), torch.device("cuda")
PLENTY = 2**40


def with_main_memory(monkeypatch: pytest.MonkeyPatch, folder: Path, available: int) -> None:
    """A system with so many bytes to give."""
    meminfo = folder / "meminfo"
    meminfo.write_text(f"MemTotal:       99999999 kB\nMemAvailable:   {available // 1024} kB\nBuffers: 7 kB\n")
    monkeypatch.setattr(buckets, "_MEMINFO", meminfo)


def with_accelerator(monkeypatch: pytest.MonkeyPatch, free: int, reserved: int = 0, allocated: int = 0) -> None:
    """An accelerator with so many bytes to give."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, PLENTY))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: reserved)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: allocated)


def test_an_accelerator_gets_more_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with_main_memory(monkeypatch, tmp_path, PLENTY)
    with_accelerator(monkeypatch, PLENTY)
    assert token_budget(CUDA) > token_budget(CPU)


def test_gradients_take_more_per_token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for free in (PLENTY, 64 * 2**20):
        with_main_memory(monkeypatch, tmp_path, free)
        with_accelerator(monkeypatch, free)
        for device in (CPU, CUDA):
            assert token_budget(device, gradients=True) < token_budget(device)


def test_little_main_memory_makes_small_batches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with_main_memory(monkeypatch, tmp_path, 64 * 2**20)
    assert token_budget(CPU) == 32 * 2**20 // 16_384
    assert token_budget(CPU, gradients=True) == 32 * 2**20 // 65_536
    with_main_memory(monkeypatch, tmp_path, 0)
    assert token_budget(CPU) == 1


def test_little_memory_of_an_accelerator_makes_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    with_accelerator(monkeypatch, 2**30)
    assert token_budget(CUDA) == 2**29 // 16_384
    # What torch has reserved and does not use can be had too.
    with_accelerator(monkeypatch, 2**30, reserved=3 * 2**30, allocated=2 * 2**30)
    assert token_budget(CUDA) == 2**30 // 16_384


def test_without_that_file_free_pages_are_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(buckets, "_MEMINFO", tmp_path / "none")
    monkeypatch.setattr(os, "sysconf_names", {"SC_AVPHYS_PAGES": 1, "SC_PAGE_SIZE": 2})
    monkeypatch.setattr(os, "sysconf", lambda name: {"SC_AVPHYS_PAGES": 1_000, "SC_PAGE_SIZE": 4_096}[name])
    assert token_budget(CPU) == 500 * 4_096 // 16_384


def test_where_nobody_says_memory_is_taken_to_be_plenty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with_main_memory(monkeypatch, tmp_path, PLENTY)
    plenty = token_budget(CPU)
    with_accelerator(monkeypatch, PLENTY)
    assert token_budget(torch.device("mps")) == token_budget(CUDA)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert token_budget(CUDA) == token_budget(torch.device("mps"))
    monkeypatch.setattr(buckets, "_MEMINFO", tmp_path / "none")
    monkeypatch.setattr(os, "sysconf_names", {})
    assert token_budget(CPU) == plenty


def test_this_system_is_asked() -> None:
    assert 1 <= token_budget(CPU, gradients=True) <= token_budget(CPU)
