"""Memory that is freed stays with the process: the kernel is asked for the blocks of a step once."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

STEPS = """
import resource, sys
import torch
from faithboard.session import chosen_device

if sys.argv[1] == "kept":
    chosen_device("cpu")
layer, texts = torch.nn.LSTM(50, 128, batch_first=True), torch.randn(32, 400, 50, requires_grad=True)
faults = []
for _ in range(4):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    layer(texts)[0].sum().backward()
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(sum(faults[1:]))
"""
"""Steps over long texts; prints how many pages the kernel had to find for all but the first."""


def faults(way: str) -> int:
    found = subprocess.run([sys.executable, "-c", STEPS, way], capture_output=True, text=True, check=True)
    return int(found.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the setting is one of glibc")
def test_blocks_are_asked_for_once() -> None:
    assert faults("kept") * 4 < faults("as it is")
