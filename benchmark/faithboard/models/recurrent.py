"""A bidirectional LSTM that runs on padded texts.

Each direction is an LSTM of its own over the padded batch; the backward one reads every text reversed within its
length. The result equals that of packed sequences, which on a CPU take several times as long forward and backward.
Under rules each direction runs step by step over the primitives instead of in one fused operation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from faithboard.models.deletion import Deletion
from faithboard.models.encoders import Encoder
from faithboard.models.lockstep import run_without
from faithboard.models.primitives import Primitives

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int


def reversal(real: Bool[Tensor, "batch token"]) -> Int[Tensor, "batch token"]:
    """For each position the one it trades places with when a text is reversed within its length; padding stays."""
    lengths = real.sum(1, keepdim=True)
    position = torch.arange(real.shape[1], device=real.device).expand_as(real)
    return torch.where(position < lengths, lengths - 1 - position, position)


def rearranged(
    states: Float[Tensor, "batch token dim"], order: Int[Tensor, "batch position"]
) -> Float[Tensor, "batch position dim"]:
    """The states at the positions `order` of each text."""
    return states.gather(1, order[:, :, None].expand(-1, -1, states.shape[2]))


def one_direction(
    lstm: nn.LSTM, states: Float[Tensor, "batch token dim"], ops: Primitives
) -> Float[Tensor, "batch token hidden"]:
    """States of a one-layer LSTM after each token, from initial states of 0: fused, or token by token under rules."""
    if ops.rules is None:
        return lstm(states)[0]
    input_weight, state_weight, *biases = lstm.all_weights[0]
    bias = biases[0] + biases[1]
    # torch stacks input gate, forget gate, candidate and output gate. The candidate goes apart: it is a signal.
    row = torch.arange(4 * lstm.hidden_size, device=bias.device)
    gate, candidate = (row // lstm.hidden_size != 2).nonzero()[:, 0], (row // lstm.hidden_size == 2).nonzero()[:, 0]
    gate_weights, gate_bias = [input_weight[gate], state_weight[gate]], bias[gate]
    candidate_weights, candidate_bias = [input_weight[candidate], state_weight[candidate]], bias[candidate]
    h, c = (ops.rules.source(states.new_zeros(len(states), lstm.hidden_size)) for _ in range(2))
    after_each = []
    for x in states.unbind(1):
        gates = ops.nonlinear("sigmoid", ops.linear([x, h], gate_weights, gate_bias))
        i, f, o = gates.chunk(3, -1)
        g = ops.nonlinear("tanh", ops.linear([x, h], candidate_weights, candidate_bias))
        c = ops.add(ops.product(f, c), ops.product(i, g))
        h = ops.product(o, ops.nonlinear("tanh", c))
        after_each.append(h)
    return torch.stack(after_each, 1)


_CROWD = 4
"""Texts with a deletion per position from which running them in lock step is faster than each in one fused operation.

Long texts come in small batches, and what a step of its own costs is then more than the half of the steps it saves.
"""


class BiLSTM(Encoder):
    """A forward and a backward LSTM side by side: state t is [forward state of token t, backward state of token t]."""

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__(width=2 * hidden)
        self.ahead = nn.LSTM(dim, hidden, batch_first=True)
        self.back = nn.LSTM(dim, hidden, batch_first=True)

    def encode(
        self, states: Float[Tensor, "batch token dim"], real: Bool[Tensor, "batch token"], ops: Primitives
    ) -> Float[Tensor, "batch token hidden"]:
        order = reversal(real)
        ahead = one_direction(self.ahead, states, ops)
        back = one_direction(self.back, rearranged(states, order), ops)
        return torch.cat([ahead, rearranged(back, order)], -1)

    def encode_without(
        self, states: Float[Tensor, "text token dim"], real: Bool[Tensor, "row kept"], deleted: Deletion
    ) -> Float[Tensor, "row kept hidden"]:
        if len(real) < _CROWD * real.shape[1]:
            return super().encode_without(states, real, deleted)
        hidden = states.new_empty(*real.shape, self.width)
        ahead, back = hidden.chunk(2, -1)
        run_without(self.ahead, states, deleted, ahead, backward=False)
        run_without(self.back, states, deleted, back, backward=True)
        return hidden

    def summary(
        self, hidden: Float[Tensor, "batch token hidden"], real: Bool[Tensor, "batch token"], ops: Primitives
    ) -> Float[Tensor, "batch hidden"]:
        """Last state of each direction: at the last token, and at the first."""
        ahead, back = hidden.chunk(2, -1)
        last = (real.sum(1) - 1).clamp(min=0)
        return torch.cat([rearranged(ahead, last[:, None])[:, 0], back[:, 0]], -1)
