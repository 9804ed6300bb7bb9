"""The lowest and highest value that any order of a text's tokens can reach in an erasure metric.

Edin et al. 2025 ("Normalized AOPC"), sections 3 and 4: exact for short texts, by beam search for longer ones. A metric
here is a mean over points, each the model's answer to the set of the first k tokens; the sets are nested, so an order
is a chain of sets and only as long as the largest k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier, predict, predicted_class
from faithboard.erasure import evaluate_masks
from faithboard.metrics.eraser import bin_sizes

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int

EXACT = 8
"""Up to so many tokens every set is asked."""
LONGEST = 50
"""Longer texts are not computed."""
BEAM = 5


@dataclass(frozen=True)
class Reachable:
    """Bounds of the mean over `shares` of p_j(x) - p_j of the text without (or, with `keeps`, of only) the top share.

    Called as `(model, batch)`; gives lowest and highest value, `[batch, 2]`, NaN for texts of more than `LONGEST`
    tokens. Tokens are deleted.
    """

    shares: tuple[int, ...]
    keeps: bool = False

    def __call__(self, model: Classifier, batch: Batch) -> Float64[Tensor, "batch 2"]:
        length = batch.scorable_lengths
        found = torch.full((len(batch), 2), torch.nan, dtype=torch.float64, device=batch.device)
        for rows, search in (
            ((length >= 1) & (length <= EXACT), _every_set),
            ((length > EXACT) & (length <= LONGEST), _beam),
        ):
            index = rows.nonzero()[:, 0]
            if len(index):
                part = batch.rows(index)
                found[index] = search(_Asked(model, part, self.keeps), _weights(part, self.shares))
        return found


class _Asked:
    """p_j(x) - p_j for chosen sets of the tokens of each text."""

    def __init__(self, model: Classifier, batch: Batch, keeps: bool) -> None:
        self.model, self.batch, self.keeps = model, batch, keeps
        self.full = predict(model, batch)
        self.target = predicted_class(self.full)[:, None]

    def __call__(self, chosen: Bool[Tensor, "batch set token"]) -> Float64[Tensor, "batch set"]:
        drop = self.batch.scorable[:, None] & ~chosen if self.keeps else chosen
        p = evaluate_masks(self.model, self.batch, drop)
        of_target = p.gather(2, self.target[:, None].expand(-1, p.shape[1], 1))[:, :, 0]
        return self.full.gather(1, self.target) - of_target


def _weights(batch: Batch, shares: tuple[int, ...]) -> Float64[Tensor, "batch size"]:
    """Weight in the mean of the set of the first 0, 1 .. tokens: how many of the points ask for it."""
    sizes = bin_sizes(batch.scorable, shares)
    weight = torch.zeros(len(batch), int(sizes.max()) + 1, dtype=torch.float64, device=batch.device)
    return weight.scatter_add_(1, sizes, torch.full(sizes.shape, 1 / len(shares), dtype=torch.float64).to(sizes.device))


def _every_set(ask: _Asked, weight: Float64[Tensor, "batch size"]) -> Float64[Tensor, "batch 2"]:
    """Both bounds over all orders: the best chain to a set goes through the best chain to one with a token less."""
    batch = ask.batch
    longest = int(batch.scorable_lengths.max())
    place = (batch.scorable.cumsum(1) - 1).masked_fill(~batch.scorable, longest)
    code = torch.arange(2**longest, device=batch.device)
    # Bit i of a code says whether it holds the i-th scorable token; one more bit that is never set is for the others.
    holds = torch.stack([(code >> bit) & 1 for bit in range(longest + 1)], 1).bool()
    size = holds.sum(1)
    asked = size < weight.shape[1]
    value = ask.full.new_zeros(len(batch), len(code))
    value[:, asked] = ask(holds[asked][:, place].transpose(0, 1))
    earned = value * weight[:, size.clamp(max=weight.shape[1] - 1)]
    # Codes that hold a token beyond a text's last stand for no set of it.
    there = code < 2 ** batch.scorable_lengths[:, None]
    found = []
    for extreme, worst in ((torch.amin, torch.inf), (torch.amax, -torch.inf)):
        chain = torch.full_like(earned, worst)
        chain[:, 0] = earned[:, 0]
        for k in range(1, weight.shape[1]):
            at = (size == k).nonzero()[:, 0]
            before = torch.stack([at ^ (1 << bit) for bit in range(longest)], 1)
            held = holds[at, :longest]
            chain[:, at] = earned[:, at] + extreme(chain[:, before].masked_fill(~held, worst), 2)
        last = (weight > 0).long().cumsum(1).argmax(1)
        final = (size == last[:, None]) & there
        found.append(extreme(chain.masked_fill(~final, worst), 1))
    return torch.stack(found, 1)


def _beam(ask: _Asked, weight: Float64[Tensor, "batch size"]) -> Float64[Tensor, "batch 2"]:
    """Both bounds by beam search, token by token.

    A set is judged by what its chain has earned so far and by what it would end with if the answer stayed as it is.
    """
    batch = ask.batch
    width, last = batch.ids.shape[1], (weight > 0).long().cumsum(1).argmax(1)
    # The two searches, for the lowest and the highest, go on side by side: the first with the sign turned.
    sign = weight.new_tensor([-1.0, 1.0])[None, :, None]
    sets = torch.zeros(len(batch), 2, 1, width, dtype=torch.bool, device=batch.device)
    earned = sign * (weight[:, :1] * ask(sets[:, 0]))[:, None]
    signature = torch.randint(2**62, (width,), generator=torch.Generator().manual_seed(0)).to(batch.device)
    for k in range(1, weight.shape[1]):
        going = (last >= k).nonzero()[:, 0]
        grown, total, judged = _grown(ask, sets, earned, weight, sign, going, k)
        order = judged.argsort(dim=2, descending=True)[:, :, : BEAM * min(k, BEAM)]
        # A set of k tokens can come from k others, at most `BEAM`; only the best chain to it is kept.
        names = (grown * signature).sum(3).gather(2, order)
        again = (names[:, :, :, None] == names[:, :, None]).tril(-1).any(3)
        kept = order.gather(2, again.int().argsort(dim=2, stable=True)[:, :, :BEAM])
        fresh = again.int().sort(dim=2, stable=True).values[:, :, :BEAM] == 0
        best = total.gather(2, kept).masked_fill(~fresh, -torch.inf)
        missing = kept.shape[2] - sets.shape[2]
        if missing > 0:
            sets = torch.cat([sets, sets[:, :, :1].expand(-1, -1, missing, -1)], 2)
            earned = torch.cat([earned, torch.full_like(earned[:, :, :1], -torch.inf).expand(-1, -1, missing)], 2)
        sets[going, :, : kept.shape[2]] = grown.gather(2, kept[:, :, :, None].expand(-1, -1, -1, width))
        earned[going, :, : kept.shape[2]] = best
    return sign[:, :, 0] * earned.amax(2)


def _grown(
    ask: _Asked,
    sets: Bool[Tensor, "batch two beam token"],
    earned: Float64[Tensor, "batch two beam"],
    weight: Float64[Tensor, "batch size"],
    sign: Float64[Tensor, "1 two 1"],
    going: Int[Tensor, "row"],
    k: int,
) -> tuple[Bool[Tensor, "row two grown token"], Float64[Tensor, "row two grown"], Float64[Tensor, "row two grown"]]:
    """Every set of the beam with every further token: the sets, what their chains earned, and how good they look."""
    width, beam = sets.shape[3], sets.shape[2]
    new = torch.eye(width, dtype=torch.bool, device=sets.device)
    possible = ask.batch.scorable[going][:, None, None] & ~sets[going] & earned[going].isfinite()[:, :, :, None]
    # What cannot be added leaves the set as it is, so that nothing is asked for it that was not asked before.
    grown = sets[going][:, :, :, None] | (new & possible[:, :, :, None])
    everyone = ask.batch.scorable.new_zeros(len(sets), 2 * beam * width, width)
    everyone[going] = grown.flatten(1, 3)
    value = ask(everyone)[going].unflatten(1, (2, beam * width))
    total = earned[going].repeat_interleave(width, 2) + sign * weight[going, k][:, None, None] * value
    total = total.masked_fill(~possible.flatten(2), -torch.inf)
    left = weight[going, k + 1 :].sum(1)[:, None, None]
    return grown.flatten(2, 3), total, total + sign * left * value
