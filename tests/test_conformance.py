"""Every built-in method keeps the contract, and every check catches the method that breaks its rule."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from faithboard import TOKEN, Batch, Classifier, Rng, method
from faithboard.conformance import CHECKS, Check, Untried, check_method
from faithboard.conformance.texts import LONG, lengthened
from tests.toy import MIXED, SEVERAL, BagOfWords, builtin_methods, recurrent, texts

MODELS: dict[str, Callable[[], Classifier]] = {
    "linear": lambda: BagOfWords(dropout=0.5),
    "several-classes": lambda: BagOfWords(SEVERAL, attends=True, dropout=0.5),
    "recurrent": recurrent,
}
METHODS = builtin_methods()
CASES = [(name, model) for name in METHODS for model in MODELS if METHODS[name].needs <= MODELS[model]().capabilities]


DEAR = 1_000
"""Planned token steps of a text of 12 words from which a method is tried on fewer texts."""


def many_texts(name: str = "") -> Batch:
    """64 texts of 1 to 12 words; 10 for a built-in method that asks the model about very many texts for each."""
    steps = METHODS[name].steps if name else None
    return texts(*MIXED, MIXED[3]) if steps and sum(steps(12)) > DEAR else texts(*(MIXED * 8)[:64])


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
@pytest.mark.parametrize(("name", "model"), CASES)
def test_builtin_methods_keep_the_contract(name: str, model: str, check: Check) -> None:
    with contextlib.suppress(Untried):
        check.run(METHODS[name], MODELS[model](), many_texts(name))


def positions(batch: Batch) -> Tensor:
    return torch.arange(batch.ids.shape[1]).expand(batch.ids.shape).float()


def with_gradient(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    parameter = next(model.parameters())
    parameter.grad = torch.ones_like(parameter)
    return positions(batch)


def with_heavier_weights(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    with torch.no_grad():
        next(model.parameters()).add_(1e-3)
    return positions(batch)


def with_dropout_on(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    model.train()
    logits = model(batch).logits[:, :1].detach()
    model.eval()
    return logits.expand(batch.ids.shape)


def two_tokens_or_more(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    scores = positions(batch)
    return scores / (batch.scorable_lengths[:, None] - 1)


def with_callers_gradients(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    embedded = model.embed(batch).detach().requires_grad_()
    (gradient,) = torch.autograd.grad(model(batch, embedded=embedded).logits.sum(), embedded)
    return gradient.norm(dim=-1)


class CallCounter:
    """A method that remembers how often it was called."""

    calls = 0

    def __call__(self, model: Classifier, batch: Batch, rng: Rng) -> Tensor:
        self.calls += 1
        return positions(batch) + self.calls


def by_name(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    labels = torch.tensor([float(name.startswith("ex-")) for name in batch.example_id])
    return positions(batch) + labels[:, None]


def noise_everywhere(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    embedded = model.embed(batch).detach()
    return model(batch, embedded=embedded + 0.1).logits[:, :1].detach().expand(batch.ids.shape)


def query_dropped(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    unk = torch.full_like(batch.ids, batch.specials.unk)
    other = replace(batch, ids=torch.where(batch.segment == 1, unk, batch.ids))
    return model(batch=other).logits[:, :1].detach().expand(batch.ids.shape)


def undefined_when_long(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    return positions(batch) / (batch.scorable_lengths[:, None] < LONG)


def in_its_own_precision(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    return model.embed(batch).detach() @ torch.ones(model.embed(batch).shape[-1])


def one_in_half_a_thousand(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    ones = torch.ones(batch.ids.shape, dtype=model.embed(batch).dtype)
    return 1 / (ones + 1e-3 - ones)


BROKEN: dict[str, Callable[[Classifier, Batch, Rng], Tensor]] = {
    "scores-fit": lambda model, batch, rng: positions(batch)[:, 1:],
    "batch-size": lambda model, batch, rng: positions(batch) * len(batch),
    "order": lambda model, batch, rng: positions(batch) + torch.arange(len(batch))[:, None],
    "resume": CallCounter(),
    "extra-padding": lambda model, batch, rng: positions(batch) + batch.ids.shape[1],
    "content-of-padding": lambda model, batch, rng: positions(batch) + batch.ids.sum(1, keepdim=True),
    "gold-label": by_name,
    "same-seed": lambda model, batch, rng: torch.rand(batch.ids.shape),
    "other-seed": lambda model, batch, rng: rng.uniform(TOKEN),
    "global-random-state": lambda model, batch, rng: torch.rand(batch.ids.shape),
    "model-untouched": with_gradient,
    "dropout": with_dropout_on,
    "no-grad": with_callers_gradients,
    "special-tokens": noise_everywhere,
    "one-token": two_tokens_or_more,
    "long-text": undefined_when_long,
    "repeated-words": lambda model, batch, rng: batch.ids.float(),
    "double-precision": in_its_own_precision,
    "half-precision": one_in_half_a_thousand,
    "planned-cost": lambda model, batch, rng: model(batch).logits[:, :1].detach().expand(batch.ids.shape),
}


def test_every_check_has_a_method_that_breaks_it() -> None:
    assert set(BROKEN) == {check.name for check in CHECKS}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_method_fails_the_check_of_its_rule_with_a_reason(name: str) -> None:
    declared = method("broken", kind="sensitivity", signed=True, source="a test", steps=lambda length: (0, 0))
    model = BagOfWords(dropout=0.5) if name == "dropout" else recurrent()
    batch = many_texts()
    if name == "one-token":
        batch = batch.rows((batch.scorable_lengths > 1).nonzero()[:, 0])
    findings = {finding.name: finding for finding in check_method(declared(BROKEN[name]), model, batch)}
    assert findings[name].outcome == "failed"
    assert findings[name].reason
    assert findings[name].rule


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_each_half_precision_is_tried(dtype: torch.dtype) -> None:
    def explain(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
        scores = positions(batch)
        return scores / 0 if model.embed(batch).dtype == dtype else scores

    declared = method("broken", kind="sensitivity", signed=False, source="a test")
    findings = {f.name: f for f in check_method(declared(explain), BagOfWords(), many_texts())}
    assert findings["half-precision"].outcome == "failed"


@pytest.mark.parametrize("explain", [with_gradient, with_heavier_weights])
def test_every_kind_of_change_to_the_model_is_caught(explain: Callable[[Classifier, Batch, Rng], Tensor]) -> None:
    declared = method("broken", kind="sensitivity", signed=False, source="a test")
    findings = {f.name: f for f in check_method(declared(explain), recurrent(), many_texts())}
    assert "embedding.weight" in findings["model-untouched"].reason


def test_a_hook_that_is_left_behind_is_caught() -> None:
    def explain(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
        model.register_forward_hook(lambda *_: None)
        return positions(batch)

    declared = method("hooked", kind="sensitivity", signed=False, source="a test")
    findings = {f.name: f for f in check_method(declared(explain), recurrent(), many_texts())}
    assert "number of hooks of the model" in findings["model-untouched"].reason


@pytest.mark.parametrize("explain", [noise_everywhere, query_dropped])
def test_a_perturbed_query_or_special_token_is_caught(explain: Callable[[Classifier, Batch, Rng], Tensor]) -> None:
    declared = method("broken", kind="sensitivity", signed=True, source="a test")
    findings = {f.name: f for f in check_method(declared(explain), recurrent(), many_texts())}
    assert "perturb scorable tokens alone" in findings["special-tokens"].reason


def test_a_long_text_that_would_take_too_long_is_not_tried_and_says_so() -> None:
    declared = method("dear", kind="sensitivity", signed=False, source="a test", steps=lambda length: (length**3, 0))
    dear = declared(lambda model, batch, rng: positions(batch))
    findings = {f.name: f for f in check_method(dear, recurrent(), many_texts())}
    assert findings["long-text"].outcome == "untried"
    assert "343,000,000 token steps" in findings["long-text"].reason


def asks_by_chance(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """Asks the model once about each text, and about half of them once more."""
    model(batch)
    again = (rng.uniform() < 0.5).nonzero()[:, 0]
    if len(again):
        model(batch.rows(again))
    return rng.uniform(TOKEN)


@pytest.mark.parametrize(("passes", "outcome"), [(1.5, "passed"), (1.0, "failed")])
def test_the_plan_of_a_stochastic_method_is_what_texts_take_together(passes: float, outcome: str) -> None:
    declared = method(
        "by-chance",
        kind="sensitivity",
        signed=False,
        source="a test",
        stochastic=True,
        steps=lambda length: (passes * length, 0),
    )
    batch = texts(*(" ".join(["good"] * length) for length in range(1, 60)))
    findings = {f.name: f for f in check_method(declared(asks_by_chance), BagOfWords(), batch)}
    assert findings["planned-cost"].outcome == outcome


def test_a_plan_that_is_not_given_is_not_passed() -> None:
    declared = method("unplanned", kind="sensitivity", signed=False, source="a test")
    findings = {
        f.name: f
        for f in check_method(declared(lambda model, batch, rng: positions(batch)), BagOfWords(), many_texts())
    }
    assert (findings["planned-cost"].outcome, findings["planned-cost"].reason) == ("untried", "no steps given")


def test_the_long_text_keeps_what_stands_around_the_words() -> None:
    long = lengthened(texts("what bad | good nice", "film"), 5)
    assert long.ids[0].tolist() == texts("what bad film what bad | good nice").ids[0].tolist()
    assert long.scorable.sum() == 5
    assert long.segment[0].tolist() == [0] * 7 + [1, 1]


def test_a_stochastic_method_that_ignores_the_seed_is_caught() -> None:
    declared = method("fixed", kind="sensitivity", signed=False, source="a test", stochastic=True)
    fixed = declared(lambda model, batch, rng: positions(batch))
    failed = [finding.name for finding in check_method(fixed, recurrent(), many_texts()) if finding.outcome == "failed"]
    assert failed == ["other-seed"]


def test_an_exception_of_the_method_is_a_finding_not_a_crash() -> None:
    def explain(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
        raise KeyError("nothing here")

    declared = method("raises", kind="sensitivity", signed=False, source="a test")
    findings = check_method(declared(explain), recurrent(), texts(*MIXED))
    assert "KeyError: 'nothing here'" in findings[0].reason
    assert not findings[0].passed
    assert {(one.outcome, one.reason) for one in findings[1:]} == {("untried", "scores-fit failed")}
    assert "check.py" not in findings[0].reason


def test_a_change_that_a_second_call_would_not_show_is_caught_right_after_the_scores() -> None:
    def explain(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
        with torch.no_grad():
            next(model.parameters()).zero_()
        return positions(batch)

    declared = method("erases", kind="sensitivity", signed=False, source="a test")
    findings = check_method(declared(explain), recurrent(), many_texts())
    assert [one.name for one in findings[:3]] == ["scores-fit", "model-untouched", "global-random-state"]
    assert "value of" in findings[1].reason
