"""What tests of several folders share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The folder of published data sets, for tests marked `data`."""
    root = os.environ.get("FAITHBOARD_DATA")
    if not root:
        pytest.skip("needs published data sets; set FAITHBOARD_DATA to their folder")
    return Path(root)
