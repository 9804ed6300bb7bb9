"""Probes of attention against the plain way, batches of 32 through the decoder: `pytest tests/perf --benchmark-only`.

The encoder runs once in either way and is left out of both.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from faithboard import Batch, Classifier, Output, Rng
from faithboard.classifier import untouched
from faithboard.probes.adversarial import PAPER, Profile, divergence, search, starting_logits
from faithboard.probes.permutation import PERMUTATIONS, changes, distances, permutations
from tests.perf.sst import model_of, reacting, sentences
from tests.perf.timing import times_faster

TEXTS, NAIVE_BATCH = 128, 32
PROFILE = PAPER[False]
LARGEST_LOSS = 0.005
"""Most that the mean epsilon-max JSD may lie below that of the plain search."""
LEAST_VIOLATING = 0.9
"""Share of the starts that must move the output by more than epsilon: else the search has nothing to mend."""


@torch.no_grad()
def encoded(model: Classifier, batch: Batch) -> Output:
    output = model(batch)
    parts = (output.attention, output.hidden)
    return Output(output.logits.detach(), *(None if part is None else part.detach() for part in parts))


def rows_of(output: Output, rows: Tensor) -> Output:
    assert output.attention is not None
    assert output.hidden is not None
    return Output(output.logits[rows], output.attention[rows], output.hidden[rows])


def in_small_batches(batch: Batch, output: Output) -> list[tuple[Batch, Output]]:
    """Batches of 32, each cut to its longest text."""
    found = []
    for rows in torch.arange(len(batch)).split(NAIVE_BATCH):
        part = batch.rows(rows)
        own = rows_of(output, rows)
        assert own.attention is not None
        assert own.hidden is not None
        width = part.ids.shape[1]
        found.append((part, Output(own.logits, own.attention[:, :width], own.hidden[:, :width])))
    return found


@torch.no_grad()
def one_permutation_at_a_time(model: Classifier, parts: list[tuple[Batch, Output]]) -> Tensor:
    """A permutation per text, drawn in a loop as the published code does, and a decoder call per batch."""
    medians = []
    for batch, output in parts:
        assert output.attention is not None
        assert output.hidden is not None
        p = torch.sigmoid(output.logits)[:, 0]
        places = [own.nonzero()[:, 0] for own in batch.scorable]
        moved = []
        for _ in range(PERMUTATIONS):
            shuffled = output.attention.clone()
            for row, place in enumerate(places):
                shuffled[row, place] = output.attention[row, place[torch.randperm(len(place))]]
            moved.append((torch.sigmoid(model.decode(output.hidden, shuffled, batch))[:, 0] - p).abs())
        medians.append(torch.stack(moved, 1).quantile(0.5, dim=1))
    return torch.cat(medians)


def jsd(a: Tensor, b: Tensor) -> Tensor:
    a, b = a.clamp(min=1e-38), b.clamp(min=1e-38)
    m = (a + b) / 2
    return (torch.special.entr(m) - (torch.special.entr(a) + torch.special.entr(b)) / 2).sum(-1)


def plain_search(
    model: Classifier, batch: Batch, output: Output, start: Tensor, profile: Profile
) -> tuple[Tensor, Tensor]:
    """The loss as it is written, through the decoder and autograd: divergences and distances at the end."""
    assert output.attention is not None
    assert output.hidden is not None
    hidden, alpha = output.hidden, output.attention[:, None]
    p = torch.sigmoid(output.logits)
    logits = start.clone().requires_grad_()
    optimiser = torch.optim.Adam([logits], lr=0.01, amsgrad=True)
    several = start.shape[1]
    first, second = torch.triu_indices(several, several, 1)

    def moved(attention: Tensor) -> Tensor:
        changed = [torch.sigmoid(model.decode(hidden, own, batch)) for own in attention.unbind(1)]
        return (torch.cat(changed, 1) - p).abs()

    def distributions() -> Tensor:
        return logits.masked_fill(~batch.scorable[:, None], -torch.inf).softmax(-1)

    for _ in range(profile.steps):
        attention = distributions()
        loss = -jsd(attention, alpha).sum()
        loss = loss - profile.diversity * jsd(attention[:, first], attention[:, second]).sum()
        loss = loss + profile.penalty * (moved(attention) - profile.epsilon).relu().sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        return divergence(distributions(), alpha), moved(distributions()).double()


def test_permutation_is_twenty_times_faster_than_a_decoder_call_each(benchmark: Any) -> None:
    model, batch = reacting(model_of(dim=300)), sentences(TEXTS)
    output = encoded(model, batch)
    parts = in_small_batches(batch, output)

    def at_once() -> Tensor:
        # Each round draws its permutations anew, as the plain way does.
        permutations.cache_clear()
        return changes(model, batch, output, 0)

    ours = at_once().quantile(0.5, dim=1)
    # Other draws, so the same medians but for chance.
    assert abs(float(ours.mean()) - float(one_permutation_at_a_time(model, parts).mean())) < 0.1 * float(ours.mean())

    ratio = times_faster(benchmark, at_once, lambda: one_permutation_at_a_time(model, parts), rounds=5)
    assert ratio >= 20


def test_adversarial_is_four_times_faster_and_finds_no_less(benchmark: Any) -> None:
    model, batch = reacting(model_of(dim=300)), sentences(TEXTS)
    batch = batch.rows(torch.arange(2 * NAIVE_BATCH))
    start = starting_logits(Rng(0, batch), PROFILE)
    share = violating(model, batch, start)
    benchmark.extra_info["share of starts over epsilon"] = share
    assert share >= LEAST_VIOLATING
    parts = in_small_batches(batch, encoded(model, batch))
    starts = [
        part[:, :, : small.ids.shape[1]] for part, (small, _) in zip(start.split(NAIVE_BATCH), parts, strict=True)
    ]

    def plainly() -> tuple[Tensor, Tensor]:
        with untouched(model):
            found = [
                plain_search(model, small, output, own, PROFILE)
                for own, (small, output) in zip(starts, parts, strict=True)
            ]
        return torch.cat([one for one, _ in found]), torch.cat([one for _, one in found])

    found = search(model, batch, start, PROFILE)
    ours = largest(found.divergence, found.distance)
    theirs = largest(*plainly())
    difference = float((ours - theirs).mean())
    benchmark.extra_info["mean difference of the divergence"] = difference
    assert difference >= -LARGEST_LOSS
    ratio = times_faster(benchmark, lambda: search(model, batch, start, PROFILE), plainly, rounds=2)
    assert ratio >= 4


@torch.no_grad()
def violating(model: Classifier, batch: Batch, start: Tensor) -> float:
    """Share of the starting distributions that move the output by more than epsilon."""
    output = encoded(model, batch)
    attention = start.masked_fill(~batch.scorable[:, None], -torch.inf).softmax(-1)
    p = output.log_probabilities().exp()
    moved = distances(model.decoder(output, batch)(attention), p, batch.candidates)
    return float((moved > PROFILE.epsilon).double().mean())


def largest(found: Tensor, distance: Tensor) -> Tensor:
    return found.masked_fill(distance > PROFILE.accepted, 0.0).amax(1)
