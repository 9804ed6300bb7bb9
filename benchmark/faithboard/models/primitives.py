"""The operations that the layers are written over: torch's own, or the same ones with a backward that rules decide.

A layer takes `ops: Primitives = PLAIN` and calls its methods. `PLAIN` calls torch directly, and autograd differentiates
as ever. `UnderRules(rules)` gives the same values and makes every operation one node whose backward asks the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from faithboard.rules import Nonlinearity, Rules

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

_NONLINEAR: dict[Nonlinearity, Callable[[Tensor], Tensor]] = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
}


class Primitives:
    """Every operation as torch has it."""

    rules: Rules | None = None

    def linear(
        self,
        inputs: Sequence[Float[Tensor, "*batch _"]],
        weights: Sequence[Float[Tensor, "output _"]],
        bias: Float[Tensor, "output"] | None = None,
        present: Sequence[Bool[Tensor, "*batch _"]] | None = None,
    ) -> Float[Tensor, "*batch output"]:
        """`sum_k inputs[k] weights[k]^T + bias`; see `Rules.linear` for `present`."""
        total = nn.functional.linear(inputs[0], weights[0], bias)
        for x, weight in zip(inputs[1:], weights[1:], strict=True):
            total = total + nn.functional.linear(x, weight)
        return total

    def product(self, gate: Float[Tensor, "*batch"], signal: Float[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
        return gate * signal

    def add(self, a: Float[Tensor, "*batch"], b: Float[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
        return a + b

    def nonlinear(self, kind: Nonlinearity, x: Float[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
        return _NONLINEAR[kind](x)

    def softmax(
        self, scores: Float[Tensor, "batch token"], attended: Bool[Tensor, "batch token"]
    ) -> Float[Tensor, "batch token"]:
        """Softmax over the attended tokens, 0 elsewhere, and 0 everywhere in a text that has none."""
        # The lowest finite number instead of -inf: a row with nothing to attend to, and its gradient, stay finite.
        lowest = torch.finfo(scores.dtype).min
        return scores.masked_fill(~attended, lowest).softmax(-1).masked_fill(~attended, 0.0)

    def weighted_sum(
        self,
        weights: Float[Tensor, "batch token"],
        states: Float[Tensor, "batch token hidden"],
        summed: Bool[Tensor, "batch token"],
    ) -> Float[Tensor, "batch hidden"]:
        """`sum_t weights[t] states[t]`; the weights are 0 outside `summed`."""
        return torch.bmm(weights[:, None, :], states)[:, 0]

    def mean(
        self, states: Float[Tensor, "batch token hidden"], real: Bool[Tensor, "batch token"]
    ) -> Float[Tensor, "batch hidden"]:
        """Mean over the real tokens of states that are 0 elsewhere."""
        return states.sum(1) / real.sum(1, keepdim=True).clamp(min=1)

    def maximum(
        self, states: Float[Tensor, "batch token hidden"], real: Bool[Tensor, "batch token"]
    ) -> Float[Tensor, "batch hidden"]:
        """Maximum over the real tokens of states that are nowhere negative and 0 elsewhere."""
        return states.amax(1)

    def inner(
        self, query: Float[Tensor, "batch hidden"], states: Float[Tensor, "batch token hidden"]
    ) -> Float[Tensor, "batch token"]:
        """`query . states[t]`."""
        return torch.einsum("bth,bh->bt", states, query)

    def convolution(
        self,
        states: Float[Tensor, "batch token dim"],
        layer: nn.Conv1d,
        real: Bool[Tensor, "batch token"],
    ) -> Float[Tensor, "batch filter token"]:
        """A convolution of odd width over the tokens, zeros beyond both ends and beyond the real ones."""
        return layer(states.transpose(1, 2))


PLAIN = Primitives()


class UnderRules(Primitives):
    """The same operations, each a node of the graph whose backward is the rules' method of its name."""

    def __init__(self, rules: Rules) -> None:
        self.rules: Rules = rules

    def linear(
        self,
        inputs: Sequence[Float[Tensor, "*batch _"]],
        weights: Sequence[Float[Tensor, "output _"]],
        bias: Float[Tensor, "output"] | None = None,
        present: Sequence[Bool[Tensor, "*batch _"]] | None = None,
    ) -> Float[Tensor, "*batch output"]:
        return _node(
            lambda *x: super(UnderRules, self).linear(x, weights, bias),
            lambda x, y, back: self.rules.linear(x, weights, bias, present, y, back),
            *inputs,
        )

    def product(self, gate: Float[Tensor, "*batch"], signal: Float[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
        return _node(super().product, lambda x, y, back: self.rules.product(x[0], x[1], y, back), gate, signal)

    def add(self, a: Float[Tensor, "*batch"], b: Float[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
        return _node(super().add, lambda x, y, back: self.rules.add(x[0], x[1], y, back), a, b)

    def nonlinear(self, kind: Nonlinearity, x: Float[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
        return _node(_NONLINEAR[kind], lambda x, y, back: (self.rules.nonlinear(kind, x[0], y, back),), x)

    def softmax(
        self, scores: Float[Tensor, "batch token"], attended: Bool[Tensor, "batch token"]
    ) -> Float[Tensor, "batch token"]:
        return _node(
            lambda scores: super(UnderRules, self).softmax(scores, attended),
            lambda x, y, back: (self.rules.softmax(x[0], attended, y, back),),
            scores,
        )

    def weighted_sum(
        self,
        weights: Float[Tensor, "batch token"],
        states: Float[Tensor, "batch token hidden"],
        summed: Bool[Tensor, "batch token"],
    ) -> Float[Tensor, "batch hidden"]:
        return _node(
            lambda weights, states: super(UnderRules, self).weighted_sum(weights, states, summed),
            lambda x, y, back: self.rules.weighted_sum(x[0], x[1], summed, y, back),
            weights,
            states,
        )

    def mean(
        self, states: Float[Tensor, "batch token hidden"], real: Bool[Tensor, "batch token"]
    ) -> Float[Tensor, "batch hidden"]:
        share = real.to(states.dtype) / real.sum(1, keepdim=True).clamp(min=1)
        return self.weighted_sum(share, states, real)

    def maximum(
        self, states: Float[Tensor, "batch token hidden"], real: Bool[Tensor, "batch token"]
    ) -> Float[Tensor, "batch hidden"]:
        return _node(
            lambda states: super(UnderRules, self).maximum(states, real),
            lambda x, y, back: (self.rules.maximum(x[0], real, y, back),),
            states,
        )

    def inner(
        self, query: Float[Tensor, "batch hidden"], states: Float[Tensor, "batch token hidden"]
    ) -> Float[Tensor, "batch token"]:
        return self.product(query[:, None], states).sum(-1)

    def convolution(
        self,
        states: Float[Tensor, "batch token dim"],
        layer: nn.Conv1d,
        real: Bool[Tensor, "batch token"],
    ) -> Float[Tensor, "batch filter token"]:
        (kernel,) = layer.kernel_size
        present = _windows(real[:, :, None].expand_as(states), kernel)
        return self.linear([_windows(states, kernel)], [layer.weight.flatten(1)], layer.bias, [present]).transpose(1, 2)


def _windows(states: Tensor, kernel: int) -> Tensor:
    """`[batch, token, dim x kernel]`: what a convolution of odd width sees at each token, 0 beyond both ends."""
    padded = nn.functional.pad(states, (0, 0, kernel // 2, kernel // 2))
    return padded.unfold(1, kernel, 1).flatten(2)


def _node(
    run: Callable[..., Tensor],
    pass_back: Callable[[Sequence[Tensor], Tensor, Tensor], Sequence[Tensor | None]],
    *inputs: Tensor,
) -> Tensor:
    return _Node.apply(run, pass_back, *inputs)  # type: ignore[no-untyped-call]


class _Node(torch.autograd.Function):
    """One operation: its value from `run(*inputs)`, what it passes back from `pass_back(inputs, output, back)`."""

    @staticmethod
    def forward(
        ctx: Any, run: Callable[..., Tensor], pass_back: Callable[..., Sequence[Tensor | None]], *inputs: Tensor
    ) -> Tensor:
        output = run(*inputs)
        ctx.pass_back = pass_back
        ctx.save_for_backward(*inputs, output)
        # Nothing stays nothing: what hangs behind a gate alone is not computed.
        ctx.set_materialize_grads(False)
        return output

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, back: Tensor | None) -> tuple[Tensor | None, ...]:
        *inputs, output = ctx.saved_tensors
        if back is None:
            return (None, None, *(None for _ in inputs))
        return (None, None, *ctx.pass_back(inputs, output, back))
