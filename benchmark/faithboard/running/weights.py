"""The identity of trained weights."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from torch import Tensor


def weights_sha256(weights: Mapping[str, Tensor]) -> str:
    """Hash of all parameters, names and shapes included; equal weights are the condition of a paired comparison."""
    found = hashlib.sha256()
    for name in sorted(weights):
        value = weights[name].detach().cpu().contiguous()
        found.update(f"{name}{tuple(value.shape)}{value.dtype}".encode())
        found.update(value.numpy().tobytes())
    return found.hexdigest()
