"""Commands see no data root but the one they are given."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_data_root(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FAITHBOARD_DATA", "FAITHBOARD_RESULTS", "MLFLOW_TRACKING_URI"):
        monkeypatch.delenv(name, raising=False)
