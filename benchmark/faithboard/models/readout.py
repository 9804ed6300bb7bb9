"""From the context vector, the attention-weighted sum of states, to logits.

`Linear` and `Pair` are those of Jain & Wallace (2019); `Dense` is that of the ERASER-form tasks (DeYoung et al. 2020).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor, nn

from faithboard.models.primitives import PLAIN, Primitives

if TYPE_CHECKING:
    from jaxtyping import Float


class Linear(nn.Module):
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


class Pair(nn.Module):
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


class Dense(nn.Module):
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
