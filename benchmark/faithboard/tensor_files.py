"""Tensors on the disk: finished weights, and the state of a training that is not finished."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faithboard.atomic import write_atomically
from faithboard.errors import StoreError

if TYPE_CHECKING:
    from torch import Tensor


def write_weights(path: Path, weights: Mapping[str, Tensor]) -> None:
    """Write tensors by name. Raises StoreError."""
    from safetensors.torch import save

    blob = save({name: value.contiguous() for name, value in weights.items()})
    write_atomically(path, lambda temporary: temporary.write_bytes(blob))


def read_weights(path: Path) -> dict[str, Tensor]:
    """The tensors by name, on the CPU. Raises StoreError when the file is missing or damaged."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise StoreError(f"the weights {path} cannot be read: {error}") from error


def write_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write tensors and plain values, in nested dicts and lists. Raises StoreError."""
    import torch

    blob = io.BytesIO()
    torch.save(dict(state), blob)
    content = blob.getvalue()
    # torch reads tensors with a flipped bit without a word, so the file begins with a checksum.
    whole = hashlib.sha256(content).digest() + content
    write_atomically(path, lambda temporary: temporary.write_bytes(whole))


def read_state(path: Path) -> dict[str, Any]:
    """The state, on the CPU. Raises StoreError when the file is damaged."""
    import torch

    whole = path.read_bytes()
    size = hashlib.sha256().digest_size
    if hashlib.sha256(whole[size:]).digest() != whole[:size]:
        raise StoreError(f"the stored state {path} is damaged (checksum)")
    state: dict[str, Any] = torch.load(io.BytesIO(whole[size:]), map_location="cpu", weights_only=True)
    return state
