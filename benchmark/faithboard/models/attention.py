"""How much each state weighs: learned attention (Jain & Wallace 2019, section 2) and two frozen controls of it.

Every attention is called as `attention(hidden, query, batch, ops)` and gives the score of each state before the
softmax.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from faithboard.batch import Batch
from faithboard.models.primitives import PLAIN, Primitives
from faithboard.rng import seed_of

if TYPE_CHECKING:
    from jaxtyping import Float


class Additive(nn.Module):
    """`v . tanh(W1 h + b)`, with `W2 q` added inside for a query; W1 and W2 go from H to H/2 (Bahdanau et al. 2015)."""

    def __init__(self, width: int, *, query: bool) -> None:
        super().__init__()
        self.state = nn.Linear(width, width // 2)
        self.query = nn.Linear(width, width // 2, bias=False) if query else None
        self.score = nn.Linear(width // 2, 1, bias=False)

    def forward(
        self,
        hidden: Float[Tensor, "batch token hidden"],
        query: Float[Tensor, "batch hidden"] | None,
        batch: Batch,
        ops: Primitives = PLAIN,
    ) -> Float[Tensor, "batch token"]:
        inputs, weights = [hidden], [self.state.weight]
        if self.query is not None and query is not None:
            inputs, weights = [hidden, query[:, None]], [self.state.weight, self.query.weight]
        inner = ops.nonlinear("tanh", ops.linear(inputs, weights, self.state.bias))
        return ops.linear([inner], [self.score.weight]).squeeze(-1)


class Dot(nn.Module):
    """`q . h / sqrt(H)`; a single text has a learned vector in place of the query (Vaswani et al. 2017)."""

    def __init__(self, width: int, *, query: bool) -> None:
        super().__init__()
        self.scale = width**-0.5
        self.score = None if query else nn.Linear(width, 1, bias=False)

    def forward(
        self,
        hidden: Float[Tensor, "batch token hidden"],
        query: Float[Tensor, "batch hidden"] | None,
        batch: Batch,
        ops: Primitives = PLAIN,
    ) -> Float[Tensor, "batch token"]:
        if self.score is not None:
            return ops.linear([hidden], [self.score.weight]).squeeze(-1) * self.scale
        if query is None:
            raise ValueError("this attention compares the states with a query, and there is none")
        return ops.inner(query, hidden) * self.scale


class Uniform(nn.Module):
    """The same score for every state: the context is the mean of the attended ones (Wiegreffe & Pinter 2019)."""

    def forward(
        self,
        hidden: Float[Tensor, "batch token hidden"],
        query: Float[Tensor, "batch hidden"] | None,
        batch: Batch,
        ops: Primitives = PLAIN,
    ) -> Float[Tensor, "batch token"]:
        return hidden.new_zeros(hidden.shape[:2])


class Random(nn.Module):
    """A score from N(0, 1) for each example and position, never trained, the same in training and test.

    It depends on the seed, the example's id and the position in the batch's row alone: not on batch, padding or device.
    A text with words deleted is another text of the same example: what moves up takes the score of its new position.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed

    def forward(
        self,
        hidden: Float[Tensor, "batch token hidden"],
        query: Float[Tensor, "batch hidden"] | None,
        batch: Batch,
        ops: Primitives = PLAIN,
    ) -> Float[Tensor, "batch token"]:
        width = hidden.shape[1]
        drawn = {name: self._draw(name, width) for name in set(batch.example_id)}
        scores = np.array([drawn[name] for name in batch.example_id]).reshape(len(batch), width)
        return torch.from_numpy(scores).to(hidden.device, hidden.dtype)

    def _draw(self, example: str, width: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        # numpy draws one number after the other, so a longer row begins as a shorter one; torch draws blocks.
        return np.random.default_rng(seed_of("attention", self.seed, example)).standard_normal(width)
