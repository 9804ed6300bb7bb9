"""Rules: what each primitive operation of a model passes back to its inputs in place of the derivative.

A model with the capability `rules` is written over a few primitives (`models/primitives.py`). Under
`model(batch, rules=rules)` its layers run unrolled, autograd carries what a rule says instead of a gradient, and what
reaches an input along several paths adds up. `Rules` itself gives ordinary derivatives; LRP and DeepLIFT override it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.buckets import token_batches, token_budget
from faithboard.classifier import Classifier, untouched

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int

Nonlinearity = Literal["tanh", "sigmoid", "relu"]

_SLOPES: dict[Nonlinearity, Callable[[Tensor], Tensor]] = {
    "tanh": lambda y: 1 - y * y,
    "sigmoid": lambda y: y * (1 - y),
    "relu": lambda y: (y > 0).to(y.dtype),
}
"""Derivative of each nonlinearity, from its value."""


class Rules:
    """Ordinary derivatives; a subclass overrides what it treats otherwise.

    Each method gets a primitive's inputs, its output and `back`, what arrives at the output, and returns what goes to
    each input, in the input's shape; None is nothing. One object serves one pass.
    """

    def __init__(self) -> None:
        self.sources: list[Tensor] = []
        """Inputs of the model beside the embeddings, in the order of the pass: the initial states of an LSTM."""

    def source(self, value: Tensor) -> Tensor:
        """A constant of the model, from now on an input of its own that receives what is passed back to it."""
        value = value.detach().requires_grad_()
        self.sources.append(value)
        return value

    def linear(
        self,
        inputs: Sequence[Float[Tensor, "*batch _"]],
        weights: Sequence[Float[Tensor, "output _"]],
        bias: Float[Tensor, "output"] | None,
        present: Sequence[Bool[Tensor, "*batch _"]] | None,
        output: Float[Tensor, "*batch output"],
        back: Float[Tensor, "*batch output"],
    ) -> list[Tensor | None]:
        """`sum_k inputs[k] weights[k]^T + bias`: all that enters one unit, whose sum is split at once.

        An input may be broadcast over tokens (`summed_to` undoes it). `present` is False where an input is no input at
        all, as the padding of a convolution; None where all are.
        """
        return [summed_to(back, x) @ weight for x, weight in zip(inputs, weights, strict=True)]

    def product(
        self, gate: Float[Tensor, "*batch"], signal: Float[Tensor, "*batch"], output: Tensor, back: Tensor
    ) -> tuple[Tensor | None, Tensor | None]:
        """`gate * signal`, element by element."""
        return summed_to(back * signal, gate, keep=0), summed_to(back * gate, signal, keep=0)

    def add(
        self, a: Float[Tensor, "*batch"], b: Float[Tensor, "*batch"], output: Tensor, back: Tensor
    ) -> tuple[Tensor | None, Tensor | None]:
        """`a + b`, element by element."""
        return back, back

    def nonlinear(self, kind: Nonlinearity, x: Float[Tensor, "*batch"], output: Tensor, back: Tensor) -> Tensor | None:
        """tanh, sigmoid or ReLU."""
        return back * _SLOPES[kind](output)

    def softmax(
        self,
        scores: Float[Tensor, "batch token"],
        attended: Bool[Tensor, "batch token"],
        output: Float[Tensor, "batch token"],
        back: Float[Tensor, "batch token"],
    ) -> Tensor | None:
        """Softmax over the attended tokens; 0 elsewhere, and everywhere in a text that has none."""
        return output * (back - (output * back).sum(-1, keepdim=True))

    def weighted_sum(
        self,
        weights: Float[Tensor, "batch token"],
        states: Float[Tensor, "batch token hidden"],
        summed: Bool[Tensor, "batch token"],
        output: Float[Tensor, "batch hidden"],
        back: Float[Tensor, "batch hidden"],
    ) -> tuple[Tensor | None, Tensor | None]:
        """`sum_t weights[t] states[t]` over the tokens marked in `summed`; the weights are 0 elsewhere."""
        return torch.bmm(states, back[:, :, None])[:, :, 0], weights[:, :, None] * back[:, None]

    def maximum(
        self,
        states: Float[Tensor, "batch token hidden"],
        real: Bool[Tensor, "batch token"],
        output: Float[Tensor, "batch hidden"],
        back: Float[Tensor, "batch hidden"],
    ) -> Tensor | None:
        """Maximum over the real tokens, dimension by dimension, of states that are nowhere negative."""
        largest = (states == output[:, None]) & real[:, :, None]
        return largest * (back / largest.sum(1).clamp(min=1))[:, None]


def summed_to(back: Tensor, x: Tensor, keep: int = 1) -> Tensor:
    """`back` summed over the axes along which `x` was broadcast; the last `keep` axes stay as they are."""
    shape = (*x.shape[: x.ndim - keep], *back.shape[back.ndim - keep :]) if keep else x.shape
    return back if back.shape == shape else back.sum_to_size(shape)


def propagate(
    model: Classifier,
    batch: Batch,
    embedded: Float[Tensor, "batch token dim"],
    rules: Rules,
    start: Callable[[Float[Tensor, "batch output"]], Float[Tensor, "batch output"]],
) -> tuple[Float[Tensor, "batch output"], Float[Tensor, "batch token dim"], tuple[Tensor, ...]]:
    """Run the model at `embedded` under `rules` and pass `start(logits)` back from its logits.

    Returns the logits, what arrives at `embedded`, and what arrives at each of `rules.sources`. The model runs in eval
    mode and is left as it was. The graph of the whole batch is in memory at once: see `propagation_batches`. Raises
    ValueError for rules that have served a pass before.
    """
    if rules.sources:
        raise ValueError("these rules have served a pass already and hold its state; make new ones for each pass")
    with untouched(model), torch.enable_grad():
        point = embedded.detach().requires_grad_()
        logits = model(batch, embedded=point, rules=rules).logits
        arrived = torch.autograd.grad(
            logits, [point, *rules.sources], start(logits.detach()), allow_unused=True, materialize_grads=True
        )
    return logits.detach(), arrived[0], arrived[1:]


def propagation_batches(batch: Batch, *, copies: int = 1) -> Iterator[Int[Tensor, "row"]]:
    """Rows of `batch`, each exactly once, in groups of like length whose graph under rules fits into memory.

    A pass under rules keeps what every primitive saw of every token, so it is given the `token_budget` with gradients;
    a longer text goes by itself. `copies` is how often a text stands in a pass, as beside its baseline.
    """
    budget = token_budget(batch.device, gradients=True)
    yield from token_batches(batch.lengths, max(1, budget // copies))
