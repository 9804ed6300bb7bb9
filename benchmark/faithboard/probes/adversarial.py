"""How different can attention be while the output stays? (Jain & Wallace 2019, section 4.2.2)

Several distributions are moved away from the model's attention, and from each other, as far as the output lets them:

    minimise  - sum_i JSD(a_i, alpha) - C sum_{i<j} JSD(a_i, a_j) + lambda sum_i relu(d(y_i, y) - epsilon)

States stay fixed, so they are mapped through the linear part of the readout once. Softmax and divergences have their
gradients written out; only what follows the context goes through autograd.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier, Decoder, Output, untouched
from faithboard.metric import Probe, ProbeContext
from faithboard.probes.permutation import distances
from faithboard.rng import TOKEN, Rng

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Float64

_SPREAD = 3.0
"""Standard deviation of the starting logits over tokens."""
_LEARNING_RATE = 0.01
_TINY = 1e-38
"""Stands for a weight of 0 in a logarithm: smaller than any that counts in float32."""


@dataclass(frozen=True)
class Profile:
    """Constants of the search, which differ between the paper and its code."""

    diversity: float
    """C: weight of the divergences among the distributions."""
    epsilon: float
    """Distance of the output from which the penalty begins."""
    accepted: float
    """Largest total variation distance with which a distribution counts."""
    norm: Literal["tvd", "l1"] = "tvd"
    """Distance that is penalised; the L1 norm is twice the total variation distance."""
    penalty: float = 500.0
    """lambda"""
    distributions: int = 5
    steps: int = 500


PAPER = {
    False: Profile(diversity=1 / 20, epsilon=0.01, accepted=0.01),
    True: Profile(diversity=1 / 20, epsilon=0.05, accepted=0.05),
}
"""By whether the task answers questions. C = 1 / (k (k - 1)); lambda is that of the code, for the paper gives none."""
CODE_2019 = {
    False: Profile(diversity=2 / 25, epsilon=0.01, accepted=0.05),
    True: Profile(diversity=2 / 25, epsilon=0.01, accepted=0.05, norm="l1"),
}
"""C = 2 / k^2, and a distribution is accepted more generously than it was searched for."""


@dataclass(frozen=True)
class Found:
    """The distributions at the end of a search."""

    attention: Float[Tensor, "batch several token"]
    divergence: Float64[Tensor, "batch several"]
    """JSD to the model's attention in nats, at most ln 2."""
    distance: Float64[Tensor, "batch several"]
    """Total variation distance of the output."""


def search(model: Classifier, batch: Batch, start: Float[Tensor, "batch several token"], profile: Profile) -> Found:
    """Distributions over the scorable tokens, from the logits `start`, after `profile.steps` steps of Adam (amsgrad).

    The weights of other tokens stay, and the scorable ones share what is left.
    """
    with untouched(model):
        with torch.no_grad():
            output = model(batch)
            full = output.log_probabilities(batch.candidates).exp()
        decode = model.decoder(detached(output), batch)
        alpha = output.attention.detach()
        scorable = batch.scorable[:, None]
        fixed = alpha.masked_fill(batch.scorable, 0.0)[:, None]
        share = alpha.masked_fill(~batch.scorable, 0.0).sum(1)[:, None, None]
        logits = start.clone()
        # The fused optimiser is one pass over the numbers; its arithmetic is that of Adam.
        logits.grad = torch.zeros_like(logits)
        optimiser = torch.optim.Adam([logits], lr=_LEARNING_RATE, amsgrad=True, fused=True)
        for _ in range(profile.steps):
            own = logits.masked_fill(~scorable, -torch.inf).softmax(-1).nan_to_num() * share
            slope = _divergence_slope(own, alpha[:, None], profile.diversity)
            slope += _penalty_slope(decode, own + fixed, full, batch.candidates, profile)
            inner = (own * slope).sum(-1, keepdim=True) / share.clamp(min=_TINY)
            torch.mul(own, slope - inner, out=logits.grad)
            optimiser.step()
        with torch.no_grad():
            own = logits.masked_fill(~scorable, -torch.inf).softmax(-1).nan_to_num() * share + fixed
            return Found(own, divergence(own, alpha[:, None]), distances(decode(own), full, batch.candidates))


def summed_up(found: Found, profile: Profile) -> Float64[Tensor, "batch point"]:
    """The largest divergence among the accepted distributions and the original, which has 0, and the share accepted."""
    accepted = found.distance <= profile.accepted
    largest = found.divergence.masked_fill(~accepted, 0.0).amax(1)
    return torch.stack([largest, accepted.double().mean(1)], 1)


def starting_logits(rng: Rng, profile: Profile) -> Float[Tensor, "batch several token"]:
    """log(1/T) + 3 N(0, 1); the constant is the same for all tokens and plays no part."""
    return _SPREAD * rng.normal(profile.distributions, TOKEN)


def divergence(
    a: Float[Tensor, "batch several token"], b: Float[Tensor, "batch several token"]
) -> Float64[Tensor, "batch several"]:
    """Jensen-Shannon divergence in nats, between 0 and ln 2."""
    a, b = a.double(), b.double()
    middle = (a + b) / 2
    entropies = [torch.special.entr(values).sum(-1) for values in (middle, a, b)]
    return (entropies[0] - (entropies[1] + entropies[2]) / 2).clamp(0.0, math.log(2))


def detached(output: Output) -> Output:
    """The output as constants."""
    parts = (output.attention, output.hidden, output.query)
    return Output(output.logits.detach(), *(None if part is None else part.detach() for part in parts))


def _divergence_slope(
    own: Float[Tensor, "batch several token"], alpha: Float[Tensor, "batch one token"], diversity: float
) -> Float[Tensor, "batch several token"]:
    """d / d a_i of the divergences, negated: JSD(a, b) has the derivative log(a / m) / 2 with m = (a + b) / 2."""
    several = own.shape[1]
    first, second = torch.triu_indices(several, several, 1, device=own.device)
    between = _log_middle(own[:, first], own[:, second])
    slope = own.clamp(min=_TINY).log_() * (-1 - diversity * (several - 1))
    slope += _log_middle(own, alpha)
    slope.index_add_(1, first, between, alpha=diversity).index_add_(1, second, between, alpha=diversity)
    return slope / 2


def _log_middle(a: Tensor, b: Tensor) -> Tensor:
    return ((a + b) / 2).clamp_(min=_TINY).log_()


def _penalty_slope(
    decode: Decoder,
    attention: Float[Tensor, "batch several token"],
    full: Float64[Tensor, "batch class"],
    candidates: Bool[Tensor, "batch class"] | None,
    profile: Profile,
) -> Float[Tensor, "batch several token"]:
    with torch.enable_grad():
        point = attention.requires_grad_()
        distance = distances(decode(point), full, candidates) * (2 if profile.norm == "l1" else 1)
        penalty = profile.penalty * (distance - profile.epsilon).relu().sum()
        (slope,) = torch.autograd.grad(penalty, point)
    return slope


def _probe(name: str, source: str, profiles: Mapping[bool, Profile]) -> Probe:
    def adversarial(model: Classifier, batch: Batch, context: ProbeContext) -> Float64[Tensor, "batch point"]:
        """`summed_up` of a search; NaN for fewer than two words, which leave nothing to search."""
        profile = profiles[context.answers_questions]
        found = search(model, batch, starting_logits(context.rng, profile), profile)
        return summed_up(found, profile).masked_fill(batch.scorable_lengths[:, None] < 2, torch.nan)

    parameters = {("question" if asks else "text"): asdict(profile) for asks, profile in profiles.items()}
    return Probe(
        name=name,
        version=1,
        better="neither",
        source=source,
        parameters=parameters,
        needs=frozenset({"attention", "decode"}),
        points=(f"{name}-max-jsd", f"{name}-accepted"),
        probe=adversarial,
        steps=lambda length: (length, 0),
    )


ADVERSARIAL = _probe("adversarial", "Jain & Wallace 2019, section 4.2.2, equation 1", PAPER)
ADVERSARIAL_CODE_2019 = _probe("adversarial-code-2019", "the constants of the code of Jain & Wallace 2019", CODE_2019)
