"""How much each state weighs: additive and scaled dot-product attention (Jain & Wallace 2019, section 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from jaxtyping import Bool, Float


class Additive(nn.Module):
    """`v . tanh(W1 h + b)`, with `W2 q` added inside for a query; W1 and W2 go from H to H/2 (Bahdanau et al. 2015)."""

    def __init__(self, width: int, *, query: bool) -> None:
        super().__init__()
        self.state = nn.Linear(width, width // 2)
        self.query = nn.Linear(width, width // 2, bias=False) if query else None
        self.score = nn.Linear(width // 2, 1, bias=False)

    def forward(
        self, hidden: Float[Tensor, "batch token hidden"], query: Float[Tensor, "batch hidden"] | None
    ) -> Float[Tensor, "batch token"]:
        """The score of each state, before the softmax."""
        inner = self.state(hidden)
        if self.query is not None and query is not None:
            inner = inner + self.query(query)[:, None, :]
        return self.score(torch.tanh(inner)).squeeze(-1)


class Dot(nn.Module):
    """`q . h / sqrt(H)`; a single text has a learned vector in place of the query (Vaswani et al. 2017)."""

    def __init__(self, width: int, *, query: bool) -> None:
        super().__init__()
        self.scale = width**-0.5
        self.score = None if query else nn.Linear(width, 1, bias=False)

    def forward(
        self, hidden: Float[Tensor, "batch token hidden"], query: Float[Tensor, "batch hidden"] | None
    ) -> Float[Tensor, "batch token"]:
        """The score of each state, before the softmax."""
        if self.score is not None:
            return self.score(hidden).squeeze(-1) * self.scale
        return torch.einsum("bth,bh->bt", hidden, query) * self.scale


def weights(
    scores: Float[Tensor, "batch token"], attended: Bool[Tensor, "batch token"]
) -> Float[Tensor, "batch token"]:
    """Softmax over the attended tokens, 0 elsewhere, and 0 everywhere in a text that has none."""
    # The lowest finite number instead of -inf: a row with nothing to attend to, and its gradient, stay finite.
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~attended, lowest).softmax(-1).masked_fill(~attended, 0.0)
