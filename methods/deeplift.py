"""DeepLIFT (Shrikumar et al. 2017): differences from a baseline instead of derivatives, so that they add up.

The rescale rule is theirs; products are split as half of each factor's own change, which is the Shapley value of two.
What is passed back here is a multiplier: the change of p_j per change of an input, over both halves of the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from faithboard import (
    Attribution,
    Background,
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

DRAWS = 10
"""Background texts that deep-shap averages over."""


class Rescale(Rules):
    """Multipliers between the first half of the batch, the texts, and the second, their baselines.

    Every rule is complete: multipliers times differences of inputs add up to that of the output. Sums of terms are
    linear and keep their derivative.
    """

    def linear(
        self,
        inputs: Sequence[Tensor],
        weights: Sequence[Tensor],
        bias: Tensor | None,
        present: Sequence[Tensor] | None,
        output: Tensor,
        back: Tensor,
    ) -> list[Tensor | None]:
        """The derivative, computed for one half."""
        m, _ = back.chunk(2)
        halves = (x.chunk(2)[0] for x in inputs)
        return [
            _both(m.sum_to_size(*x.shape[:-1], m.shape[-1]) @ weight) for x, weight in zip(halves, weights, strict=True)
        ]

    def product(self, gate: Tensor, signal: Tensor, output: Tensor, back: Tensor) -> tuple[Tensor, Tensor]:
        """m_a = (b + b0) / 2 and m_b = (a + a0) / 2."""
        m, _ = back.chunk(2)
        to_gate, to_signal = m * _middle(signal), m * _middle(gate)
        return (
            _both(to_gate.sum_to_size(len(m), *gate.shape[1:])),
            _both(to_signal.sum_to_size(len(m), *signal.shape[1:])),
        )

    def nonlinear(self, kind: str, x: Tensor, output: Tensor, back: Tensor) -> Tensor:
        """(y - y0) / (x - x0), without ever taking a difference of values that may be equal."""
        (x, x0), (y, y0) = x.chunk(2), output.chunk(2)
        distance = (x - x0).abs()
        if kind == "tanh":
            ratio = (1 - y * y0) * _safe(torch.tanh(distance), distance)
        elif kind == "sigmoid":
            ratio = torch.maximum(y, y0) * (1 - torch.minimum(y, y0)) * _decay(distance)
        else:
            ratio = torch.where((x > 0) == (x0 > 0), (x > 0).to(x.dtype), _safe((y - y0).abs(), distance))
        return _both(back.chunk(2)[0] * ratio)

    def softmax(self, scores: Tensor, attended: Tensor, output: Tensor, back: Tensor) -> Tensor:
        """`softmax_multipliers`, of both halves."""
        m, _ = back.chunk(2)
        s, s0 = scores.chunk(2)
        return _both(softmax_multipliers(s, s0, attended.chunk(2)[0], m).to(scores.dtype))

    def weighted_sum(
        self, weights: Tensor, states: Tensor, summed: Tensor, output: Tensor, back: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Products of weight and state, then their sum."""
        m, _ = back.chunk(2)
        to_weights = torch.bmm(_middle(states), m[:, :, None])[:, :, 0]
        return _both(to_weights), _both(_middle(weights)[:, :, None] * m[:, None])

    def maximum(self, states: Tensor, real: Tensor, output: Tensor, back: Tensor) -> Tensor:
        """y - y0 goes to the place of the larger of the two maxima, which no other place can undercut."""
        (h, h0), (y, y0) = states.masked_fill(~real[:, :, None], -torch.inf).chunk(2), output.chunk(2)
        place = torch.where(y >= y0, h.argmax(1), h0.argmax(1))[:, None]
        change = (h.gather(1, place) - h0.gather(1, place)).abs()[:, 0]
        m = back.chunk(2)[0] * _safe((y - y0).abs(), change)
        return _both(torch.zeros_like(h).scatter(1, place, m[:, None]))


def _both(m: Tensor) -> Tensor:
    return torch.cat([m, m])


def _middle(values: Tensor) -> Tensor:
    first, second = values.chunk(2)
    return (first + second) / 2


def _safe(change: Tensor, distance: Tensor) -> Tensor:
    """change / distance; where there is no distance, its limit 1."""
    return torch.where(distance > 0, change / distance, 1.0)


def _decay(distance: Tensor) -> Tensor:
    """(1 - exp(-d)) / d."""
    return _safe(-torch.expm1(-distance), distance)


def softmax_multipliers(s: Tensor, s0: Tensor, among: Tensor, m: Tensor) -> Tensor:
    """From multipliers of `softmax(s)` over the places in `among` to those of s, in float64.

    As exp, sum, reciprocal and product: a_t = e_t r, r = 1 / sum_u e_u. A shift of s that is the same for both halves
    changes nothing; here it is the middle of the two maxima. All are `[batch, place]`.
    """
    s, s0 = (values.double().masked_fill(~among, -torch.inf) for values in (s, s0))
    m = m.double()
    top = torch.stack([s.amax(1), s0.amax(1)]).mean(0)[:, None]
    some = among.any(1, keepdim=True)
    top = top.where(some, 0.0)
    e, e0 = (s - top).exp(), (s0 - top).exp()
    r, r0 = (1 / values.sum(1, keepdim=True).where(some, 1.0) for values in (e, e0))
    # What e_t gets as a factor, m_t (r + r0) / 2, and through the sum, as 1/S - 1/S0 = -(S - S0) r r0, in one.
    mean, mean0 = ((m * share).sum(1, keepdim=True) for share in (e * r, e0 * r0))
    to_e = (r * (m - mean0) + r0 * (m - mean)) / 2
    distance = (s - s0).abs().where(among, 0.0)
    return to_e * torch.maximum(e, e0) * _decay(distance)


def differences(model: Classifier, batch: Batch, embedded: Tensor, baseline: Tensor) -> tuple[Tensor, Tensor]:
    """Multiplier times difference for every token, from `baseline` to `embedded`, both `[batch, token, dim]`.

    Also returns what they add up to, p_j(x) - p_j(x0), j being the class predicted at `embedded`.
    """
    n, width = batch.ids.shape
    twice = batch.rows([*range(n), *range(n)])
    cut = slice(twice.ids.shape[1])
    change: list[Tensor] = []

    def start(logits: Tensor) -> Tensor:
        p, p0 = Output(logits).log_probabilities(twice.candidates).exp().chunk(2)
        j = predicted_class(p)[:, None]
        # The loss of the other classes, and -1 for each of them, keep their digits where p_j is almost 1.
        change.append(-(p - p0).scatter(1, j, 0.0).sum(1))
        z, z0 = logits.double().chunk(2)
        if logits.shape[1] == 1:
            high, low = torch.maximum(z, z0), torch.minimum(z, z0)
            m = torch.sigmoid(high) * torch.sigmoid(-low) * _decay(high - low) * (2 * j - 1)
        else:
            among = torch.ones_like(z, dtype=torch.bool) if batch.candidates is None else batch.candidates
            m = softmax_multipliers(z, z0, among, -torch.ones_like(z).scatter(1, j, 0.0))
        return _both(m.to(logits.dtype))

    both = torch.cat([embedded[:, cut], baseline[:, cut]])
    _, multipliers, _ = propagate(model, twice, both, Rescale(), start)
    scores = (multipliers[:n].double() * (embedded - baseline)[:, cut]).sum(-1)
    return torch.nn.functional.pad(scores, (0, width - scores.shape[1])), change[0]


def from_baselines(
    model: Classifier, batch: Batch, baseline: Callable[[Batch, Tensor, Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """`differences` of every text from `baseline(part, rows, embedded)`, `part` being `rows` of the batch."""
    scores = torch.zeros(batch.ids.shape, dtype=torch.float64, device=batch.device)
    total = torch.zeros_like(scores[:, 0])
    for rows in propagation_batches(batch, copies=2):
        part = batch.rows(rows)
        with torch.no_grad():
            embedded = model.embed(part)
            start = baseline(part, rows, embedded)
        scores[rows, : part.ids.shape[1]], total[rows] = differences(model, part, embedded, start)
    return scores, total


@method(
    "deeplift",
    kind="contribution",
    signed=True,
    source="Shrikumar et al. 2017, rescale rule; products by half of each change; from zero vectors to the text; p_j",
    needs={"rules"},
    steps=lambda length: (2 * length, 2 * length),
)
def deeplift(model: Classifier, batch: Batch, rng: Rng) -> Attribution:
    """What the token adds to p_j as the text grows out of zero vectors, by difference ratios."""

    def zeros(part: Batch, rows: Tensor, embedded: Tensor) -> Tensor:
        return embedded.masked_fill(part.scorable[:, :, None], 0.0)

    return Attribution(*from_baselines(model, batch, zeros))


@method(
    "deep-shap",
    kind="contribution",
    signed=True,
    source="Lundberg & Lee 2017, section 4.2: deeplift averaged over 10 draws of background words for every position",
    needs={"rules", "background"},
    stochastic=True,
    steps=lambda length: (2 * DRAWS * length, 2 * DRAWS * length),
)
def deep_shap(model: Classifier, batch: Batch, rng: Rng, background: Background) -> Attribution:
    """What the token adds to p_j where words of the training texts stood, on average over them."""
    words = torch.stack([background.drawn(rng) for _ in range(DRAWS)], 1).flatten(0, 1)

    def drawn(part: Batch, rows: Tensor, embedded: Tensor) -> Tensor:
        return model.embed(part.replaced(part.scorable, words[rows, : part.ids.shape[1]]))

    scores, total = from_baselines(model, batch.repeat(DRAWS), drawn)
    return Attribution(scores.unflatten(0, (-1, DRAWS)).mean(1), total.unflatten(0, (-1, DRAWS)).mean(1))
