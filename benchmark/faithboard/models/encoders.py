"""What an encoder is, and the two that do not recur: a convolutional one and a plain average (Jain & Wallace 2019)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor, nn

from faithboard.models.deletion import Deletion
from faithboard.models.primitives import PLAIN, Primitives
from faithboard.rules import Nonlinearity

if TYPE_CHECKING:
    from jaxtyping import Bool, Float


class Encoder(nn.Module):
    """Turns embeddings into states, one per token, and states into one vector that sums a text up.

    Subclasses implement `encode` and `summary` over the primitives `ops`; neither ever sees a batch without texts or
    without tokens. One that can encode texts with a token deleted faster than each from its beginning overrides
    `encode_without`.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(
        self,
        states: Float[Tensor, "text token dim"],
        real: Bool[Tensor, "batch kept"],
        ops: Primitives = PLAIN,
        deleted: Deletion | None = None,
    ) -> Float[Tensor, "batch kept hidden"]:
        """States of the real tokens, which come first in each text; 0 on padding, whatever stands there.

        With `deleted`, `states` are those of whole texts and `real` the tokens of the texts with one deleted. This has
        no gradients.
        """
        padding = ~real[:, :, None]
        if real.numel() == 0:
            # The sum keeps the (empty) input in the graph: its gradient exists and is empty.
            return states[: len(real), : real.shape[1]].sum(-1, keepdim=True).expand(*real.shape, self.width)
        if deleted is not None:
            with torch.no_grad():
                whole = states.masked_fill(~deleted.real[:, :, None], 0.0)
                hidden = self.encode_without(whole, real, deleted)
                shortest = int(real.sum(1).min())
                hidden[:, shortest:].masked_fill_(padding[:, shortest:], 0.0)
                return hidden
        return self.encode(states.masked_fill(padding, 0.0), real, ops).masked_fill(padding, 0.0)

    def summarise(
        self, hidden: Float[Tensor, "batch token hidden"], real: Bool[Tensor, "batch token"], ops: Primitives = PLAIN
    ) -> Float[Tensor, "batch hidden"]:
        """One vector per text; the zero vector for a text without tokens."""
        if hidden.numel() == 0:
            return hidden.sum(1)
        return self.summary(hidden, real, ops).masked_fill(~real.any(1, keepdim=True), 0.0)

    def encode(
        self, states: Float[Tensor, "batch token dim"], real: Bool[Tensor, "batch token"], ops: Primitives
    ) -> Float[Tensor, "batch token hidden"]:
        raise NotImplementedError

    def encode_without(
        self, states: Float[Tensor, "text token dim"], real: Bool[Tensor, "row kept"], deleted: Deletion
    ) -> Float[Tensor, "row kept hidden"]:
        """A new tensor of the states of every row of `deleted`, whose tokens are `real`; 0 is put on padding later."""
        return self.encode(deleted.compacted(states), real, PLAIN)

    def summary(
        self, hidden: Float[Tensor, "batch token hidden"], real: Bool[Tensor, "batch token"], ops: Primitives
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
        self, states: Float[Tensor, "batch token dim"], real: Bool[Tensor, "batch token"], ops: Primitives
    ) -> Float[Tensor, "batch token hidden"]:
        layers = cast("Iterable[nn.Conv1d]", self.convolutions)
        channels = [ops.convolution(states, layer, real) for layer in layers]
        return ops.nonlinear("relu", torch.cat(channels, 1).transpose(1, 2))

    def encode_without(
        self, states: Float[Tensor, "text token dim"], real: Bool[Tensor, "row kept"], deleted: Deletion
    ) -> Float[Tensor, "row kept hidden"]:
        reach, width = max(self.KERNELS) // 2, real.shape[1]
        if width <= 4 * reach:
            return super().encode_without(states, real, deleted)
        hidden = deleted.compacted(self.encode(states, deleted.real, PLAIN))
        # Only windows that had the token in them change; what they see lies within twice their reach.
        place = deleted.position[:, None] + torch.arange(-2 * reach, 2 * reach, device=states.device)
        inside = (place >= 0) & (place < width)
        seen = deleted.kept().gather(1, place.clamp(0, width - 1))
        near = states[deleted.text[:, None], seen].masked_fill(~inside[:, :, None], 0.0)
        new = self.encode(near, inside, PLAIN)[:, reach:-reach]
        row, offset = inside[:, reach:-reach].nonzero(as_tuple=True)
        hidden[row, place[:, reach:-reach][row, offset]] = new[row, offset]
        return hidden

    def summary(
        self, hidden: Float[Tensor, "batch token hidden"], real: Bool[Tensor, "batch token"], ops: Primitives
    ) -> Float[Tensor, "batch hidden"]:
        # ReLU leaves nothing below the 0 of padding, so padding never wins.
        return ops.maximum(hidden, real)


class Average(Encoder):
    """One projection with its nonlinearity per token, no neighbours; its summary is the mean over the tokens."""

    def __init__(self, dim: int, width: int, activation: Nonlinearity = "relu") -> None:
        super().__init__(width)
        self.activation = activation
        self.projection = nn.Linear(dim, width)

    def encode(
        self, states: Float[Tensor, "batch token dim"], real: Bool[Tensor, "batch token"], ops: Primitives
    ) -> Float[Tensor, "batch token hidden"]:
        return ops.nonlinear(self.activation, ops.linear([states], [self.projection.weight], self.projection.bias))

    def encode_without(
        self, states: Float[Tensor, "text token dim"], real: Bool[Tensor, "row kept"], deleted: Deletion
    ) -> Float[Tensor, "row kept hidden"]:
        return deleted.compacted(self.encode(states, deleted.real, PLAIN))

    def summary(
        self, hidden: Float[Tensor, "batch token hidden"], real: Bool[Tensor, "batch token"], ops: Primitives
    ) -> Float[Tensor, "batch hidden"]:
        return ops.mean(hidden, real)
