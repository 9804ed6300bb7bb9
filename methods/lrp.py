"""Layer-wise relevance propagation: the logit is handed down, unit by unit, to what entered each unit.

The epsilon rule of Bach et al. 2015, for LSTMs as Arras et al. 2017 have it. What is passed back is relevance itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from faithboard import (
    Attribution,
    Batch,
    Classifier,
    Output,
    Rng,
    Rules,
    method,
    predicted_class,
    propagate,
    propagation_batches,
)

EPSILON = 0.001


class Epsilon(Rules):
    """A sum z hands each term its share of z + epsilon sign(z); a gate gets nothing; tanh and ReLU pass all on.

    Bias and stabiliser enter z and are no input: what is due to them stays in the unit. By default it is lost to the
    inputs and counted in `absorbed`. With `share`, all N inputs of the unit share it equally, and nothing is lost.
    """

    def __init__(self, *, share: bool = False) -> None:
        super().__init__()
        self.share = share
        self.absorbed: Tensor | float = 0.0
        """Relevance of each text that stayed in units, `[batch]`, once it has been passed back."""

    def linear(
        self,
        inputs: Sequence[Tensor],
        weights: Sequence[Tensor],
        bias: Tensor | None,
        present: Sequence[Tensor] | None,
        output: Tensor,
        back: Tensor,
    ) -> list[Tensor | None]:
        """R_i = x_i sum_j w_ji R_j / (z_j + epsilon sign(z_j))."""
        added = stabiliser(output)
        ratio = back / (output + added)
        relevance = [x * (_summed_to(ratio, x) @ weight) for x, weight in zip(inputs, weights, strict=True)]
        kept = (ratio * (added if bias is None else added + bias)).sum(-1, keepdim=True)
        if not self.share:
            self._absorb(kept)
            return [*relevance]
        masks = [torch.ones_like(x, dtype=torch.bool) for x in inputs] if present is None else present
        n_inputs = sum(mask.sum(-1, keepdim=True) for mask in masks)
        each = kept / n_inputs
        return [own + mask * _summed_to(each, own) for own, mask in zip(relevance, masks, strict=True)]

    def add(self, a: Tensor, b: Tensor, output: Tensor, back: Tensor) -> tuple[Tensor, Tensor]:
        """R_a = a R / (c + epsilon sign(c)), c = a + b."""
        added = stabiliser(output)
        ratio = back / (output + added)
        to_a, to_b, kept = a * ratio, b * ratio, added * ratio
        if self.share:
            return to_a + kept / 2, to_b + kept / 2
        self._absorb(kept)
        return to_a, to_b

    def weighted_sum(
        self, weights: Tensor, states: Tensor, summed: Tensor, output: Tensor, back: Tensor
    ) -> tuple[None, Tensor]:
        """Attention is a gate: the sum over tokens is split among alpha_t h_t, and alpha gets nothing."""
        added = stabiliser(output)
        ratio = back / (output + added)
        relevance = weights[:, :, None] * states * ratio[:, None]
        kept = added * ratio
        if self.share:
            return None, relevance + summed[:, :, None] * (kept / summed.sum(1, keepdim=True).clamp(min=1))[:, None]
        self._absorb(kept)
        return None, relevance

    def product(self, gate: Tensor, signal: Tensor, output: Tensor, back: Tensor) -> tuple[None, Tensor]:
        """All of it to the signal."""
        return None, back

    def nonlinear(self, kind: str, x: Tensor, output: Tensor, back: Tensor) -> Tensor:
        """All of it passes."""
        return back

    def softmax(self, scores: Tensor, attended: Tensor, output: Tensor, back: Tensor) -> None:
        """Nothing: what it computes is a gate."""

    def maximum(self, states: Tensor, real: Tensor, output: Tensor, back: Tensor) -> Tensor:
        """All of it to the first of the largest."""
        largest = states.masked_fill(~real[:, :, None], -torch.inf).argmax(1, keepdim=True)
        return torch.zeros_like(states).scatter(1, largest, back[:, None])

    def _absorb(self, kept: Tensor) -> None:
        self.absorbed = self.absorbed + kept.flatten(1).sum(1, dtype=torch.float64)


def stabiliser(z: Tensor) -> Tensor:
    """epsilon sign(z), with sign(0) = 1."""
    return (z >= 0).to(z.dtype).mul_(2 * EPSILON).sub_(EPSILON)


def _summed_to(values: Tensor, x: Tensor) -> Tensor:
    """Summed over the tokens along which the input x was broadcast."""
    return values.sum_to_size(*x.shape[:-1], values.shape[-1])


def relevance(model: Classifier, batch: Batch, rules: Epsilon) -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
    """Logit of the predicted class `[batch]`, relevance of the tokens `[batch, token]` and of the initial states.

    With two classes and one output z, the logit of class 1 is z and that of class 0 is -z.
    """

    def start(logits: Tensor) -> Tensor:
        j = predicted_class(Output(logits).log_probabilities(batch.candidates))[:, None]
        if logits.shape[1] == 1:
            return torch.where(j == 1, logits, -logits)
        return torch.zeros_like(logits).scatter(1, j, logits.gather(1, j))

    with torch.no_grad():
        embedded = model.embed(batch)
    logits, at_tokens, at_states = propagate(model, batch, embedded, rules, start)
    return start(logits).sum(1), at_tokens.sum(-1), at_states


@method(
    "lrp-epsilon",
    kind="contribution",
    signed=True,
    source="Bach et al. 2015, eq. 58; Arras et al. 2017: epsilon 0.001, gates get nothing; from the logit",
    needs={"rules"},
    steps=lambda length: (length, length),
)
def lrp_epsilon(model: Classifier, batch: Batch, rng: Rng) -> Attribution:
    """The share of the predicted class's logit that reaches the token.

    Of the logit the rest goes to begin and end, to the query and to initial states, or is due to biases and
    stabilisers and stays in the units. The promised total is the logit without all that, each counted where it ends.
    """
    scores = torch.zeros(batch.ids.shape, dtype=torch.float64, device=batch.device)
    total = torch.zeros_like(scores[:, 0])
    for rows in propagation_batches(batch):
        part, rules = batch.rows(rows), Epsilon()
        logit, tokens, states = relevance(model, part, rules)
        elsewhere = tokens.masked_fill(part.scorable, 0.0).sum(1, dtype=torch.float64)
        for state in states:
            elsewhere = elsewhere + state.sum(1, dtype=torch.float64)
        scores[rows, : tokens.shape[1]] = tokens.double()
        total[rows] = logit.double() - elsewhere - rules.absorbed
    return Attribution(scores, total)
