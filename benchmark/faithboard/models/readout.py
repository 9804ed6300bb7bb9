"""From the context vector, the attention-weighted sum of states, to logits.

`Linear` and `Pair` are those of Jain & Wallace (2019); `Dense` is that of the ERASER-form tasks (DeYoung et al. 2020).
Each begins with a linear map of the context, so that for many attention distributions over the same states the states
can be mapped once: `finish(sum_t alpha_t project(h_t), query)` is `forward(sum_t alpha_t h_t, query)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from faithboard.models.primitives import PLAIN, Primitives

if TYPE_CHECKING:
    from jaxtyping import Float


class Readout(nn.Module):
    """Base of the readouts: one linear map of the context, and the rest."""

    def forward(
        self,
        context: Float[Tensor, "batch hidden"],
        query: Float[Tensor, "batch hidden"] | None,
        ops: Primitives = PLAIN,
    ) -> Float[Tensor, "batch output"]:
        raise NotImplementedError

    def project(self, states: Float[Tensor, "*batch hidden"]) -> Float[Tensor, "*batch inner"]:
        """The linear map without its bias."""
        raise NotImplementedError

    def finish(
        self, projected: Float[Tensor, "batch several inner"], query: Float[Tensor, "batch hidden"] | None
    ) -> Float[Tensor, "batch several output"]:
        """Logits of several contexts of each text, mapped already."""
        raise NotImplementedError


class Linear(Readout):
    """A linear map, for single texts."""

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.output = nn.Linear(width, outputs)

    def forward(
        self,
        context: Float[Tensor, "batch hidden"],
        query: Float[Tensor, "batch hidden"] | None,
        ops: Primitives = PLAIN,
    ) -> Float[Tensor, "batch output"]:
        return ops.linear([context], [self.output.weight], self.output.bias)

    def project(self, states: Float[Tensor, "*batch hidden"]) -> Float[Tensor, "*batch inner"]:
        return nn.functional.linear(states, self.output.weight)

    def finish(
        self, projected: Float[Tensor, "batch several inner"], query: Float[Tensor, "batch hidden"] | None
    ) -> Float[Tensor, "batch several output"]:
        return projected + self.output.bias


class Pair(Readout):
    """`linear(tanh(W_p context + W_q q))`, both from H to H/2, for a passage and its query."""

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.passage = nn.Linear(width, width // 2)
        self.query = nn.Linear(width, width // 2, bias=False)
        self.output = nn.Linear(width // 2, outputs)

    def forward(
        self,
        context: Float[Tensor, "batch hidden"],
        query: Float[Tensor, "batch hidden"] | None,
        ops: Primitives = PLAIN,
    ) -> Float[Tensor, "batch output"]:
        if query is None:
            raise ValueError("a pair is read out from the passage's context and the query's summary")
        inner = ops.linear([context, query], [self.passage.weight, self.query.weight], self.passage.bias)
        return ops.linear([ops.nonlinear("tanh", inner)], [self.output.weight], self.output.bias)

    def project(self, states: Float[Tensor, "*batch hidden"]) -> Float[Tensor, "*batch inner"]:
        return nn.functional.linear(states, self.passage.weight)

    def finish(
        self, projected: Float[Tensor, "batch several inner"], query: Float[Tensor, "batch hidden"] | None
    ) -> Float[Tensor, "batch several output"]:
        if query is None:
            raise ValueError("a pair is read out from the passage's context and the query's summary")
        inner = projected + self.passage.bias + self.query(query)[:, None, :]
        return self.output(torch.tanh(inner))


class Dense(Readout):
    """A dense layer of 128 ReLU units and dropout before the linear map, for a document and query in one sequence."""

    UNITS = 128
    DROPOUT = 0.2

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, self.UNITS)
        self.dropout = nn.Dropout(self.DROPOUT)
        self.output = nn.Linear(self.UNITS, outputs)

    def forward(
        self,
        context: Float[Tensor, "batch hidden"],
        query: Float[Tensor, "batch hidden"] | None,
        ops: Primitives = PLAIN,
    ) -> Float[Tensor, "batch output"]:
        inner = ops.nonlinear("relu", ops.linear([context], [self.dense.weight], self.dense.bias))
        return ops.linear([self.dropout(inner)], [self.output.weight], self.output.bias)

    def project(self, states: Float[Tensor, "*batch hidden"]) -> Float[Tensor, "*batch inner"]:
        return nn.functional.linear(states, self.dense.weight)

    def finish(
        self, projected: Float[Tensor, "batch several inner"], query: Float[Tensor, "batch hidden"] | None
    ) -> Float[Tensor, "batch several output"]:
        return self.output(self.dropout((projected + self.dense.bias).relu()))
