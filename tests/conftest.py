"""What tests of several folders share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# The models of tests are tiny: more threads than one only wait for each other. Read by torch when it is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The folder of published data sets, for tests marked `data`."""
    root = os.environ.get("FAITHBOARD_DATA")
    if not root:
        pytest.skip("needs published data sets; set FAITHBOARD_DATA to their folder")
    return Path(root)
