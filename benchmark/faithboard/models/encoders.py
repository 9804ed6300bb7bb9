"""What an encoder is, and the two that do not recur: a convolutional one and a plain average (Jain & Wallace 2019)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from jaxtyping import Bool, Float


class Encoder(nn.Module):
    """Turns embeddings into states, one per token, and states into one vector that sums a text up.

    Subclasses implement `encode` and `summary`; neither ever sees a batch without texts or without tokens.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(
        self, states: Float[Tensor, "batch token dim"], real: Bool[Tensor, "batch token"]
    ) -> Float[Tensor, "batch token hidden"]:
        """States of the real tokens, which come first in each text; 0 on padding, whatever stands there."""
        padding = ~real[:, :, None]
        if states.numel() == 0:
            # The sum keeps the (empty) input in the graph: its gradient exists and is empty.
            return states.sum(-1, keepdim=True).expand(-1, -1, self.width)
        return self.encode(states.masked_fill(padding, 0.0), real).masked_fill(padding, 0.0)

    def summarise(
        self, hidden: Float[Tensor, "batch token hidden"], real: Bool[Tensor, "batch token"]
    ) -> Float[Tensor, "batch hidden"]:
        """One vector per text; the zero vector for a text without tokens."""
        if hidden.numel() == 0:
            return hidden.sum(1)
        return self.summary(hidden, real).masked_fill(~real.any(1, keepdim=True), 0.0)

    def encode(
        self, states: Float[Tensor, "batch token dim"], real: Bool[Tensor, "batch token"]
    ) -> Float[Tensor, "batch token hidden"]:
        raise NotImplementedError

    def summary(
        self, hidden: Float[Tensor, "batch token hidden"], real: Bool[Tensor, "batch token"]
    ) -> Float[Tensor, "batch hidden"]:
        raise NotImplementedError


class CNN(Encoder):
    """Convolutions of several widths side by side, with ReLU; its summary is the maximum over time."""

    KERNELS = (1, 3, 5, 7)

    def __init__(self, dim: int, filters: int) -> None:
        super().__init__(width=filters * len(self.KERNELS))
        self.convolutions = nn.ModuleList(
            nn.Conv1d(dim, filters, kernel, padding=kernel // 2) for kernel in self.KERNELS
        )

    def encode(
        self, states: Float[Tensor, "batch token dim"], real: Bool[Tensor, "batch token"]
    ) -> Float[Tensor, "batch token hidden"]:
        channels = states.transpose(1, 2)
        return torch.cat([convolution(channels) for convolution in self.convolutions], 1).transpose(1, 2).relu()

    def summary(
        self, hidden: Float[Tensor, "batch token hidden"], real: Bool[Tensor, "batch token"]
    ) -> Float[Tensor, "batch hidden"]:
        # ReLU leaves nothing below the 0 of padding, so padding never wins.
        return hidden.amax(1)


class Average(Encoder):
    """One projection with ReLU per token, no neighbours; its summary is the mean over the tokens."""

    def __init__(self, dim: int, width: int) -> None:
        super().__init__(width)
        self.projection = nn.Linear(dim, width)

    def encode(
        self, states: Float[Tensor, "batch token dim"], real: Bool[Tensor, "batch token"]
    ) -> Float[Tensor, "batch token hidden"]:
        return self.projection(states).relu()

    def summary(
        self, hidden: Float[Tensor, "batch token hidden"], real: Bool[Tensor, "batch token"]
    ) -> Float[Tensor, "batch hidden"]:
        return hidden.sum(1) / real.sum(1, keepdim=True).clamp(min=1)
