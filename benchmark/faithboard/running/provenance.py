"""Where and with what something was computed."""

from __future__ import annotations

import platform
import time
from typing import Any

import torch

import faithboard


def provenance(device: torch.device) -> dict[str, Any]:
    """Where and with what something was computed. Not part of any key."""
    return {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "dtype": "float32",
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "platform": f"{platform.system().lower()}-{platform.machine()}",
        "faithboard": faithboard.__version__,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
