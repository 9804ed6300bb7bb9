"""The search for attention that looks different, against autograd and torch's optimiser through the decoder."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from faithboard import Batch, Classifier
from faithboard.probes.adversarial import (
    ADVERSARIAL,
    CODE_2019,
    PAPER,
    Profile,
    divergence,
    search,
    starting_logits,
    summed_up,
)
from tests.probes.reference_models import LAYOUTS, context, model_of, shift_logit, texts_of, tvd
from tests.toy import texts

SHORT = replace(PAPER[False], steps=25)


def jsd(a: Tensor, b: Tensor) -> Tensor:
    # The derivative of x log x at 0 is infinite: padding must not have it.
    a, b = a.clamp(min=1e-38), b.clamp(min=1e-38)
    m = (a + b) / 2
    return (torch.special.entr(m) - (torch.special.entr(a) + torch.special.entr(b)) / 2).sum(-1)


def through_the_decoder(model: Classifier, batch: Batch, start: Tensor, profile: Profile) -> Tensor:
    """The distributions that the loss as it is written leads to, in float64 where the model allows it."""
    with torch.no_grad():
        output = model(batch)
    assert output.attention is not None
    assert output.hidden is not None
    alpha, hidden = output.attention, output.hidden
    p = output.log_probabilities().exp()
    logits = start.clone().requires_grad_()
    optimiser = torch.optim.Adam([logits], lr=0.01, amsgrad=True)
    share = alpha.masked_fill(~batch.scorable, 0.0).sum(1)[:, None, None]
    fixed = alpha.masked_fill(batch.scorable, 0.0)[:, None]
    k = start.shape[1]

    def distributions() -> Tensor:
        return logits.masked_fill(~batch.scorable[:, None], -torch.inf).softmax(-1) * share + fixed

    for _ in range(profile.steps):
        a = distributions()
        loss = -jsd(a, alpha[:, None]).sum()
        for i in range(k):
            for j in range(i):
                loss = loss - profile.diversity * jsd(a[:, i], a[:, j]).sum()
            changed = type(output)(model.decode(hidden, a[:, i], batch, output.query)).log_probabilities().exp()
            moved = tvd(changed, p) * (2 if profile.norm == "l1" else 1)
            loss = loss + profile.penalty * (moved - profile.epsilon).relu().sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return distributions().detach()


@pytest.mark.parametrize("profile", [SHORT, replace(CODE_2019[True], steps=25)], ids=["paper", "code-2019"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_takes_the_steps_of_the_written_loss(layout: str, profile: Profile) -> None:
    model, batch = model_of(layout), texts_of(layout)
    start = 3 * context(batch).rng.normal(5, "token")
    found = search(model, batch, start, profile)
    expected = through_the_decoder(model, batch, start, profile)
    several = batch.scorable_lengths > 1
    torch.testing.assert_close(found.attention[several], expected[several], rtol=0, atol=2e-4)
    torch.testing.assert_close(found.attention.sum(-1), torch.ones(len(batch), 5))


def test_finds_no_less_than_the_written_loss_from_the_same_starts() -> None:
    model, batch = model_of("single"), texts_of("single")
    longer = batch.rows((batch.scorable_lengths > 3).nonzero()[:, 0])
    profile = replace(PAPER[False], steps=100, accepted=0.05)
    start = starting_logits(context(longer).rng, profile)
    found = search(model, longer, start, profile)
    attention = through_the_decoder(model, longer, start, profile)
    with torch.no_grad():
        output = model(longer)
        p = output.log_probabilities().exp()
        moved = [
            tvd(type(output)(model.decode(output.hidden, one, longer)).log_probabilities().exp(), p)
            for one in attention.unbind(1)
        ]
    theirs = divergence(attention, output.attention[:, None])
    ours, theirs = (
        divergences.masked_fill(distances > profile.accepted, 0.0).amax(1)
        for divergences, distances in ((found.divergence, found.distance), (theirs, torch.stack(moved, 1)))
    )
    assert bool((theirs > 0).any())
    assert float((ours - theirs).mean()) >= -0.005


def test_divergence_is_that_of_scipy_and_at_most_ln_2() -> None:
    from scipy.spatial.distance import jensenshannon

    a, b = torch.rand(2, 6, 1, 9, dtype=torch.float64)
    a, b = a / a.sum(-1, keepdim=True), b / b.sum(-1, keepdim=True)
    expected = [jensenshannon(x[0].numpy(), y[0].numpy()) ** 2 for x, y in zip(a, b, strict=True)]
    assert divergence(a, b)[:, 0].tolist() == pytest.approx(expected)
    apart = divergence(torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[0.0, 1.0]]]))
    assert float(apart) == pytest.approx(math.log(2))


def test_what_is_found_differs_and_keeps_the_output() -> None:
    model, batch = model_of("single"), texts_of("single")
    longer = batch.rows((batch.scorable_lengths > 6).nonzero()[:, 0])
    found = ADVERSARIAL.probe(model, longer, context(longer))
    start = 3 * context(longer).rng.normal(5, "token")
    after = search(model, longer, start, PAPER[False])
    accepted = after.distance <= 0.01
    expected = after.divergence.masked_fill(~accepted, 0.0).amax(1)
    torch.testing.assert_close(found[:, 0], expected)
    torch.testing.assert_close(found[:, 1], accepted.double().mean(1))
    for row, several in enumerate(after.attention):
        one = longer.rows([row])
        output = model(one)
        p = output.log_probabilities().exp()
        for i, attention in enumerate(several):
            assert output.hidden is not None
            own = attention[None, : one.ids.shape[1]]
            logits = model.decode(output.hidden, own, one)
            moved = float(tvd(type(output)(logits).log_probabilities().exp(), p).detach())
            assert moved == pytest.approx(float(after.distance[row, i]), abs=1e-6)


def test_batch_and_order_change_nothing() -> None:
    model, batch = model_of("pair"), texts_of("pair")
    whole = search(model, batch, 3 * context(batch).rng.normal(5, "token"), SHORT)
    for row in range(len(batch)):
        one = batch.rows([row]).padded_to(20)
        alone = search(model, one, 3 * context(one).rng.normal(5, "token"), SHORT)
        torch.testing.assert_close(alone.divergence[0], whole.divergence[row], rtol=0, atol=1e-4)


def test_one_word_is_undefined_and_two_words_are_searched() -> None:
    model, batch = model_of("single"), texts("good", "good film")
    found = ADVERSARIAL.probe(model, batch, context(batch))
    assert bool(torch.isnan(found[0]).all())
    assert 0 <= float(found[1, 0]) <= math.log(2)


def test_an_epsilon_of_0_accepts_nothing_that_moves_the_output_and_leaves_the_original() -> None:
    model, batch = model_of("single"), texts_of("single")
    several = batch.rows((batch.scorable_lengths > 2).nonzero()[:, 0])
    strict = replace(SHORT, epsilon=0.0, accepted=0.0)
    found = search(model, several, 3 * context(several).rng.normal(5, "token"), strict)
    assert bool((found.divergence > 0).all())
    assert summed_up(found, strict).eq(0).all()
    assert summed_up(found, replace(strict, accepted=1.0)).gt(0).all()


def test_a_saturated_probability_lets_attention_go_anywhere() -> None:
    model, batch = model_of("single"), texts_of("single")
    shift_logit(model, 200.0)
    found = ADVERSARIAL.probe(model, batch, context(batch))
    several = batch.scorable_lengths > 3
    assert found[several, 1].eq(1).all()
    assert bool((found[several, 0] > 0.3).all())


def test_uniform_attention_is_searched_as_any_other() -> None:
    model, batch = model_of("single", "uniform"), texts_of("single")
    found = ADVERSARIAL.probe(model, batch, context(batch))
    assert bool(torch.isfinite(found[batch.scorable_lengths > 1]).all())


def test_questions_have_an_epsilon_of_their_own() -> None:
    assert (PAPER[False].accepted, PAPER[True].accepted) == (0.01, 0.05)
    assert PAPER[False].diversity == pytest.approx(1 / 20)
    assert CODE_2019[True].diversity == pytest.approx(2 / 25)
    assert ADVERSARIAL.parameters["question"]["epsilon"] == 0.05
