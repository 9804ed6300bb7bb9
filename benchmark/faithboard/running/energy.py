"""Energy that a GPU has used, from the total-energy counter of NVIDIA's management library, where there is one."""

from __future__ import annotations

import ctypes

import torch

_LIBRARY = "libnvidia-ml.so.1"
_OK = 0


def total_joules(device: torch.device) -> float | None:
    """Energy since the driver was loaded, in joules; None for a CPU, a GPU without the counter or a part of a GPU.

    The difference of two readings is what the whole device used in between, whoever used it.
    """
    if device.type != "cuda":
        return None
    try:
        nvml = ctypes.CDLL(_LIBRARY)
    except OSError:
        return None
    if nvml.nvmlInit_v2() != _OK:
        return None
    try:
        # By UUID: the library numbers devices by their place on the bus, torch those that are visible.
        uuid = f"GPU-{torch.cuda.get_device_properties(device).uuid}".encode()
        handle, millijoules = ctypes.c_void_p(), ctypes.c_ulonglong()
        if nvml.nvmlDeviceGetHandleByUUID(uuid, ctypes.byref(handle)) != _OK:
            return None
        if nvml.nvmlDeviceGetTotalEnergyConsumption(handle, ctypes.byref(millijoules)) != _OK:
            return None
        return millijoules.value / 1_000
    finally:
        nvml.nvmlShutdown()
