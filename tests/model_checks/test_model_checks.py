"""Every reference model keeps the contract, and for every rule there is a model that breaks it and is told so."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from faithboard import Batch, Classifier, ContractError, Output
from faithboard.model_checks import MODEL_CHECKS, check_model, require_fit
from tests.models.composed import COMBINATIONS, TEXTS, batch_of, model_of
from tests.toy import BagOfWords, recurrent, texts


def several(layout: str = "pair") -> Batch:
    """Texts of 1, 3 and 5 words, those of `pair` with one of two queries."""
    return batch_of(layout, *TEXTS, [14, 5, 12], [6, 13], [7, 7, 9, 8], [11, 12], [5, 6, 14, 13])


IN_SHORT = [one for one in COMBINATIONS if one[2] == "pair" or one[1] in ("additive", "none")]
"""Every reference model on pairs, some of them in all layouts."""


@pytest.mark.parametrize(("encoder", "attention", "layout"), IN_SHORT)
def test_every_reference_model_keeps_the_contract(encoder: str, attention: str, layout: str) -> None:
    findings = check_model(model_of(layout, encoder, attention), several(layout))
    assert [one.name for one in findings] == [check.name for check in MODEL_CHECKS]
    assert [one for one in findings if one.outcome == "failed"] == []
    untried = {one.name for one in findings if one.outcome == "untried"}
    expected = set() if attention != "none" else {"attention", "replaced-attention", "detached-attention", "decode"}
    expected |= {"candidates"} if layout != "pair" else set()
    expected |= {"query"} if layout == "single" else set()
    assert untried == expected


Change = Callable[[Output, Batch], Tensor]


def answering(change: Change) -> Callable[[Classifier], None]:
    """A model whose logits are changed after the pass."""

    def breaks(model: Classifier) -> None:
        forward = model.forward

        def changed(batch: Batch, *given: Any, **named: Any) -> Output:
            output = forward(batch, *given, **named)
            return dataclasses.replace(output, logits=change(output, batch))

        _put(model, "forward", changed)

    return breaks


def asked(**arguments: Any) -> Callable[[Classifier], None]:
    """A model that never gets what it is asked with."""

    def breaks(model: Classifier) -> None:
        forward = model.forward
        _put(model, "forward", lambda batch, *_, **named: forward(batch, **{**named, **arguments}))

    return breaks


def reading(change: Callable[[Batch], Batch]) -> Callable[[Classifier], None]:
    """A model that reads another text."""

    def breaks(model: Classifier) -> None:
        forward, embed = model.forward, model.embed

        def changed(batch: Batch, embedded: Tensor | None = None, **named: Any) -> Output:
            return forward(change(batch), embedded=embed(change(batch)), **named)

        _put(model, "forward", changed)

    return breaks


def putting(name: str, make: Callable[[Any], Any]) -> Callable[[Classifier], None]:
    """A model with another attribute, made of the one it has."""
    return lambda model: _put(model, name, make(getattr(model, name)))


def _put(model: Classifier, name: str, value: Any) -> None:
    object.__setattr__(model, name, value)


def unknown_words(batch: Batch, segment: int) -> Batch:
    word = batch.real & (batch.segment == segment) & (batch.ids > 4)
    return dataclasses.replace(batch, ids=torch.where(word, batch.specials.unk, batch.ids))


def doubled_attention(model: Classifier) -> None:
    forward = model.forward

    def changed(batch: Batch, *given: Any, **named: Any) -> Output:
        output = forward(batch, *given, **named)
        assert output.attention is not None
        return dataclasses.replace(output, attention=output.attention * 2)

    _put(model, "forward", changed)


def without_gradient(model: Classifier) -> None:
    forward = model.forward

    def changed(batch: Batch, embedded: Tensor | None = None, **named: Any) -> Output:
        return forward(batch, embedded=None if embedded is None else embedded.detach(), **named)

    _put(model, "forward", changed)


def counting_the_readout(model: Classifier) -> None:
    _put(model, "counted", lambda: (model.get_submodule("readout"),))


def deleting_nothing(model: Classifier) -> None:
    _put(model, "without_token", lambda batch, text, position: model(batch.rows(text)).logits)


BROKEN: dict[str, Callable[[Classifier], None]] = {
    "attributes": putting("specials", lambda own: dataclasses.replace(own, pad=own.unk)),
    "logits": answering(lambda output, batch: torch.cat([output.logits, output.logits[:, :1]], 1)),
    "finite": answering(lambda output, batch: output.logits / (batch.scorable_lengths > 0)[:, None]),
    "embedding": putting("embed", lambda own: lambda batch: own(batch).flatten(1)),
    "embedded": asked(embedded=None),
    "batch-size": answering(lambda output, batch: output.logits + len(batch)),
    "extra-padding": answering(lambda output, batch: output.logits + batch.ids.shape[1]),
    "content-of-padding": answering(lambda output, batch: output.logits + batch.ids.sum(1)[:, None]),
    "deterministic": answering(lambda output, batch: output.logits + torch.rand(len(batch), 1)),
    "words": reading(lambda batch: unknown_words(batch, 0)),
    "query": reading(lambda batch: unknown_words(batch, 1)),
    "candidates": answering(
        lambda output, batch: (
            output.logits if batch.candidates is None else output.logits.masked_fill(batch.candidates, -torch.inf)
        )
    ),
    "gradient": without_gradient,
    "attention": doubled_attention,
    "replaced-attention": asked(attention=None),
    "detached-attention": asked(detach_attention=False),
    "decode": putting("decode", lambda own: lambda *given: own(*given) + 1),
    "rules": asked(rules=None),
    "without-token": deleting_nothing,
    "counted": counting_the_readout,
}


def test_every_check_has_a_model_that_breaks_it() -> None:
    assert list(BROKEN) == [check.name for check in MODEL_CHECKS]


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_model_fails_the_check_of_its_rule_with_a_reason(name: str) -> None:
    model = model_of("pair")
    BROKEN[name](model)
    found = {finding.name: finding for finding in check_model(model, several())}
    assert found[name].outcome == "failed"
    assert found[name].reason
    assert found[name].rule


def test_what_a_model_raises_is_a_finding_with_its_line() -> None:
    model = model_of("single")
    words: dict[str, int] = {}
    _put(model, "embed", lambda batch: words["no such key"])
    found = {finding.name: finding for finding in check_model(model, several("single"))}
    assert "KeyError: 'no such key'" in found["logits"].reason


def test_claims_are_held_against_a_model() -> None:
    batch = texts("good film", "bad", "nice dull what")
    model = BagOfWords()
    model.capabilities = frozenset({"attention", "several-classes", "flight"})
    found = {finding.name: finding for finding in check_model(model, batch)}
    assert "unknown capabilities: flight" in found["attributes"].reason
    assert "Output.attention must have the shape [batch, token], (3, 5): None" in found["attention"].reason
    model.capabilities = frozenset({"several-classes"})
    assert "several-classes" in {f.name: f.reason for f in check_model(model, batch)}["attributes"]


def test_a_model_of_a_persons_own_kind_passes() -> None:
    findings = check_model(BagOfWords(), texts("good film", "bad bad dull", "nice", "what bad | what good"))
    assert {f.name: f.reason for f in findings if f.outcome == "failed"} == {}


def test_only_what_cannot_be_used_at_all_is_refused() -> None:
    batch = texts("good film", "bad | what")
    model = recurrent()
    answering(lambda output, batch: output.logits + batch.ids.shape[1])(model)
    require_fit(model, batch)
    answering(lambda output, batch: output.logits * torch.nan)(model)
    with pytest.raises(ContractError, match=r"example ex-0 are not finite \(the texts as they are\) \(finite: "):
        require_fit(model, batch)


def test_checks_leave_the_model_as_it_was() -> None:
    model = model_of("single").train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    check_model(model, several("single"))
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(module.training for module in model.modules())
    assert all(parameter.requires_grad and parameter.grad is None for parameter in model.parameters())
