"""Every built-in method keeps the contract, and every check catches the method that breaks its rule."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from faithboard import TOKEN, Batch, Classifier, Rng, method
from faithboard.conformance import CHECKS, Check, check_method
from tests.toy import MIXED, SEVERAL, BagOfWords, builtin_methods, recurrent, texts

MODELS: dict[str, Callable[[], Classifier]] = {
    "linear": lambda: BagOfWords(dropout=0.5),
    "several-classes": lambda: BagOfWords(SEVERAL, attends=True, dropout=0.5),
    "recurrent": recurrent,
}
METHODS = builtin_methods()
CASES = [(name, model) for name in METHODS for model in MODELS if METHODS[name].needs <= MODELS[model]().capabilities]


def many_texts() -> Batch:
    """64 texts of 1 to 12 words."""
    return texts(*(MIXED * 8)[:64])


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
@pytest.mark.parametrize(("name", "model"), CASES)
def test_builtin_methods_keep_the_contract(name: str, model: str, check: Check) -> None:
    check.run(METHODS[name], MODELS[model](), many_texts())


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
    return model(batch).logits[:, :1].detach().expand(batch.ids.shape)


def two_tokens_or_more(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    scores = positions(batch)
    return scores / (batch.scorable_lengths[:, None] - 1)


def with_callers_gradients(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    embedded = model.embed(batch).detach().requires_grad_()
    (gradient,) = torch.autograd.grad(model(batch, embedded=embedded).logits.sum(), embedded)
    return gradient.norm(dim=-1)


BROKEN: dict[str, Callable[[Classifier, Batch, Rng], Tensor]] = {
    "scores-fit": lambda model, batch, rng: positions(batch)[:, 1:],
    "batch-size": lambda model, batch, rng: positions(batch) * len(batch),
    "order": lambda model, batch, rng: positions(batch) + torch.arange(len(batch))[:, None],
    "extra-padding": lambda model, batch, rng: positions(batch) + batch.ids.shape[1],
    "content-of-padding": lambda model, batch, rng: positions(batch) + batch.ids.sum(1, keepdim=True),
    "same-seed": lambda model, batch, rng: torch.rand(batch.ids.shape),
    "other-seed": lambda model, batch, rng: rng.uniform(TOKEN),
    "global-random-state": lambda model, batch, rng: torch.rand(batch.ids.shape),
    "model-untouched": with_gradient,
    "dropout": with_dropout_on,
    "no-grad": with_callers_gradients,
    "one-token": two_tokens_or_more,
    "repeated-words": lambda model, batch, rng: batch.ids.float(),
    "planned-cost": lambda model, batch, rng: model(batch).logits[:, :1].detach().expand(batch.ids.shape),
}


def test_every_check_has_a_method_that_breaks_it() -> None:
    assert set(BROKEN) == {check.name for check in CHECKS}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_method_fails_the_check_of_its_rule_with_a_reason(name: str) -> None:
    declared = method("broken", kind="sensitivity", signed=False, source="a test", steps=lambda length: (0, 0))
    model = BagOfWords(dropout=0.5) if name == "dropout" else recurrent()
    findings = {finding.name: finding for finding in check_method(declared(BROKEN[name]), model, many_texts())}
    assert not findings[name].passed
    assert findings[name].reason
    assert findings[name].rule


@pytest.mark.parametrize("explain", [with_gradient, with_heavier_weights])
def test_every_kind_of_change_to_the_model_is_caught(explain: Callable[[Classifier, Batch, Rng], Tensor]) -> None:
    declared = method("broken", kind="sensitivity", signed=False, source="a test")
    findings = {f.name: f for f in check_method(declared(explain), recurrent(), many_texts())}
    assert "embedding.weight" in findings["model-untouched"].reason


def test_a_stochastic_method_that_ignores_the_seed_is_caught() -> None:
    declared = method("fixed", kind="sensitivity", signed=False, source="a test", stochastic=True)
    fixed = declared(lambda model, batch, rng: positions(batch))
    failed = [finding.name for finding in check_method(fixed, recurrent(), many_texts()) if not finding.passed]
    assert failed == ["other-seed"]


def test_an_exception_of_the_method_is_a_finding_not_a_crash() -> None:
    def explain(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
        raise KeyError("nothing here")

    declared = method("raises", kind="sensitivity", signed=False, source="a test")
    findings = check_method(declared(explain), recurrent(), texts(*MIXED))
    assert "KeyError: 'nothing here'" in findings[0].reason
    assert not findings[0].passed
