"""Checks of what a model says it can do: gradients, attention, decode, rules; and that its work is counted."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from faithboard.batch import Batch
from faithboard.classifier import Classifier, Output, count_steps, untouched
from faithboard.conformance.check import Untried
from faithboard.errors import ContractError
from faithboard.gradients import differentiable_recurrence
from faithboard.model_checks.check import ModelCheck, answer, compare, logits_of
from faithboard.rules import Rules, propagate

_SUM = 1e-4
"""How far weights may sum from 1."""


def _claims(model: Classifier, capability: str) -> None:
    """Raise Untried for a model that does not say it can."""
    if capability not in model.capabilities:
        raise Untried(f"it does not say that it has {capability}")


def _attending(model: Classifier, batch: Batch) -> tuple[Output, Tensor]:
    """The answer and its attention. Raises ContractError when there is none."""
    _claims(model, "attention")
    output = answer(model, batch)
    if output.attention is None or tuple(output.attention.shape) != tuple(batch.ids.shape):
        shape = "None" if output.attention is None else str(tuple(output.attention.shape))
        raise ContractError(f"Output.attention must have the shape [batch, token], {tuple(batch.ids.shape)}: {shape}")
    return output, output.attention


def _attention(model: Classifier, batch: Batch) -> None:
    _, weights = _attending(model, batch)
    if bool((weights < 0).any()):
        raise ContractError("attention weights must not be negative")
    if bool(weights[~batch.real].any()):
        raise ContractError("attention must be 0 on padding")
    total = weights.sum(1)
    if not bool(((total - 1).abs() < _SUM).all()):
        row = int((total - 1).abs().argmax())
        raise ContractError(f"attention of example {batch.example_id[row]} sums to {float(total[row]):.6g}, not to 1")


def _other_weights(weights: Tensor) -> Tensor:
    """Weights over the same tokens, those of a text moved on by one place and made uneven."""
    rising = torch.arange(1.0, weights.shape[1] + 1, device=weights.device)
    uneven = torch.where(weights > 0, rising.to(weights.dtype), 0.0)
    return uneven / uneven.sum(1, keepdim=True).clamp(min=1.0)


def _replaced_attention(model: Classifier, batch: Batch) -> None:
    output, weights = _attending(model, batch)
    with untouched(model), torch.no_grad():
        compare(model(batch, attention=weights).logits, output.logits, batch, "with its own attention given")
        other = model(batch, attention=_other_weights(weights))
        detached = model(batch, detach_attention=True)
    if torch.equal(other.logits, output.logits):
        raise ContractError("forward(batch, attention=...) ignores the weights it is given")
    compare(detached.logits, output.logits, batch, "with detach_attention=True")


def _decode(model: Classifier, batch: Batch) -> None:
    _claims(model, "decode")
    output, weights = _attending(model, batch)
    if output.hidden is None or tuple(output.hidden.shape[:2]) != tuple(batch.ids.shape):
        raise ContractError("a model with decode gives its states, Output.hidden [batch, token, hidden]")
    changed = _other_weights(weights)
    with untouched(model), torch.no_grad():
        for query in (output.query, None):
            found = model.decode(output.hidden, weights, batch, query)
            compare(found, output.logits, batch, "decode(hidden, attention) of its own states and weights")
        expected = model(batch, attention=changed).logits
        found = model.decode(output.hidden, changed, batch, output.query)
        several = model.decoder(output, batch)(torch.stack([weights, changed], 1))
    compare(found, expected, batch, "decode with other weights, against forward with them")
    compare(several[:, 1], expected, batch, "decoder(output, batch) with several weights at once")


def _logit_gradient(model: Classifier, batch: Batch, **arguments: Any) -> Tensor:
    with untouched(model), torch.enable_grad(), differentiable_recurrence(model):
        point = model.embed(batch).detach().requires_grad_()
        total = model(batch, embedded=point, **arguments).logits.sum()
        if not total.requires_grad:
            raise ContractError("no gradient reaches the embedding: logits do not depend on `embedded`")
        return torch.autograd.grad(total, point)[0]


def _gradient(model: Classifier, batch: Batch) -> None:
    _claims(model, "gradients")
    found = _logit_gradient(model, batch)
    if not bool(torch.isfinite(found).all()):
        raise ContractError("the gradient of the logits with respect to the embedding is not finite")
    if not bool(found[batch.scorable].any()):
        raise ContractError("the gradient of the logits is 0 at every scorable token of every text")


def _detached_gradient(model: Classifier, batch: Batch) -> None:
    _claims(model, "gradients")
    _, weights = _attending(model, batch)
    found = _logit_gradient(model, batch, detach_attention=True)
    fixed = _logit_gradient(model, batch, attention=weights)
    compare(found, fixed, batch, "gradients with detach_attention=True, against those with the weights given")


def _counted(model: Classifier, batch: Batch) -> None:
    modules = model.counted()
    if not modules or not all(isinstance(module, nn.Module) for module in modules):
        raise ContractError("counted() must name the modules whose work is counted")
    calls: list[tuple[Any, ...]] = []
    handles = [module.register_forward_hook(lambda _, inputs, __: calls.append(inputs)) for module in modules]
    try:
        logits_of(model, batch)
    finally:
        for handle in handles:
            handle.remove()
    if not calls:
        raise ContractError("no module of counted() is called in a pass")
    for inputs in calls:
        if not (len(inputs) > 1 and isinstance(inputs[1], Tensor) and inputs[1].dtype == torch.bool):
            raise ContractError("a counted module is called as module(states, real, ...), `real` a boolean tensor")
        if tuple(inputs[0].shape[:2]) != tuple(inputs[1].shape):
            raise ContractError(f"states {tuple(inputs[0].shape)} and real {tuple(inputs[1].shape)} do not fit")
    scorable, real = int(batch.scorable.sum()), int(batch.real.sum())
    with count_steps(model) as steps:
        _logit_gradient(model, batch) if "gradients" in model.capabilities else logits_of(model, batch)
    if not scorable <= steps.forward <= real * len(calls):
        raise ContractError(
            f"a pass over {scorable:,} scorable of {real:,} real tokens counts {steps.forward:,} token steps"
        )
    if "gradients" in model.capabilities and not 0 < steps.backward <= steps.forward:
        raise ContractError(f"a backward pass counts {steps.backward:,} token steps, its forward {steps.forward:,}")


class _Asked(Rules):
    """Ordinary derivatives that know whether they were asked for."""

    asked = False

    def linear(self, *given: Any) -> list[Tensor | None]:
        self.asked = True
        return super().linear(*given)


def _rules(model: Classifier, batch: Batch) -> None:
    _claims(model, "rules")
    with untouched(model), torch.no_grad():
        embedded = model.embed(batch)
    rules = _Asked()
    logits, found, _ = propagate(model, batch, embedded, rules, torch.ones_like)
    if not rules.asked:
        raise ContractError("forward(batch, rules=...) never asks the rules about a linear map")
    compare(logits, logits_of(model, batch), batch, "logits of the unrolled pass")
    compare(found, _logit_gradient(model, batch), batch, "ordinary derivatives passed back by rules")


def _without_token(model: Classifier, batch: Batch) -> None:
    text, position = batch.scorable.nonzero(as_tuple=True)
    drop = nn.functional.one_hot(position, batch.ids.shape[1]).bool()
    full = batch.rows(text).padded_to(batch.ids.shape[1])
    with untouched(model), torch.no_grad():
        found = model.without_token(batch, text, position)
    compare(found, logits_of(model, full.without(drop)), full, "without_token, against a text with the token deleted")


ABILITIES = (
    ModelCheck("gradient", "gradients reach the embedding", _gradient),
    ModelCheck("attention", "weights are >= 0, 0 on padding, and sum to 1", _attention),
    ModelCheck("replaced-attention", "forward uses the weights it is given instead of its own", _replaced_attention),
    ModelCheck("detached-attention", "detach_attention makes the weights a constant", _detached_gradient),
    ModelCheck("decode", "decode gives the logits from states and weights", _decode),
    ModelCheck("rules", "under ordinary rules the unrolled pass gives logits and gradients", _rules),
    ModelCheck("without-token", "without_token equals deleting the token", _without_token),
    ModelCheck("counted", "token steps are counted: module(states, real), one step per real token", _counted),
)
