"""Checks of what surrounds a call: randomness comes from the rng alone, and the model is left as it was."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from faithboard.attribution import Method
from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.conformance.check import SEED, Check, compare, scores_of
from faithboard.errors import ContractError

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def _same_seed(method: Method, model: Classifier, batch: Batch) -> None:
    first, again = scores_of(method, model, batch), scores_of(method, model, batch)
    compare(again, first, batch, "called again with the same seed")


def _other_seed(method: Method, model: Classifier, batch: Batch) -> None:
    first, other = scores_of(method, model, batch), scores_of(method, model, batch, SEED + 1)
    if not method.stochastic:
        compare(other, first, batch, "with another seed, and not declared stochastic")
    elif torch.equal(first, other):
        raise ContractError("declared stochastic, but another seed changes nothing: draw from the rng that is given")


def _global_random_state(method: Method, model: Classifier, batch: Batch) -> None:
    before = _random_state()
    scores_of(method, model, batch)
    if _random_state() != before:
        raise ContractError("the method draws from a global random state: draw from the rng that is given")


def _model_untouched(method: Method, model: Classifier, batch: Batch) -> None:
    gradients = {parameter: parameter.grad for parameter in model.parameters()}
    # A gradient that an earlier call left behind would hide the same one now.
    model.zero_grad(set_to_none=True)
    try:
        for training in (False, True):
            with _mode(model, training):
                before = _model_state(model)
                scores_of(method, model, batch)
                after = _model_state(model)
            for name, value in before.items():
                if not _same(value, after[name]):
                    raise ContractError(f"the method changes the model: {name} is not what it was")
    finally:
        for parameter, gradient in gradients.items():
            parameter.grad = gradient


def _dropout(method: Method, model: Classifier, batch: Batch) -> None:
    with _mode(model, False):
        expected = scores_of(method, model, batch)
    with _mode(model, True):
        found = scores_of(method, model, batch)
    compare(found, expected, batch, "with the model in train mode, dropout on")


def _inference_only(method: Method, model: Classifier, batch: Batch) -> None:
    expected = scores_of(method, model, batch)
    with torch.no_grad():
        found = scores_of(method, model, batch)
    compare(found, expected, batch, "called under torch.no_grad()")


@contextmanager
def _mode(model: Classifier, training: bool) -> Iterator[None]:
    modes = {module: module.training for module in model.modules()}
    model.train(training)
    try:
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode


def _random_state() -> list[object]:
    on_cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    in_torch = [state.numpy().tobytes() for state in (torch.get_rng_state(), *on_cuda)]
    return [*in_torch, pickle.dumps(np.random.get_state()), random.getstate()]


def _model_state(model: Classifier) -> dict[str, Tensor | bool | int | None]:
    state: dict[str, Tensor | bool | int | None] = {}
    for name, module in model.named_modules():
        state[f"mode of {name or 'the model'}"] = module.training
        state[f"number of hooks of {name or 'the model'}"] = sum(len(getattr(module, hooks)) for hooks in _HOOKS)
    for name, value in model.state_dict().items():
        state[f"value of {name}"] = value.clone()
    for name, parameter in model.named_parameters():
        state[f"requires_grad of {name}"] = parameter.requires_grad
        state[f"gradient of {name}"] = None if parameter.grad is None else parameter.grad.clone()
    return state


def _same(a: Tensor | bool | int | None, b: Tensor | bool | int | None) -> bool:
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return isinstance(a, Tensor) and isinstance(b, Tensor) and torch.equal(a, b)
    return a == b


CAUSES = (
    Check("model-untouched", "mode, parameters, requires_grad, gradients and hooks are as before", _model_untouched),
    Check("global-random-state", "randomness comes from the given rng alone", _global_random_state),
)
STATE = (
    Check("same-seed", "the same seed gives the same scores", _same_seed),
    Check("other-seed", "another seed gives other scores if, and only if, the method is stochastic", _other_seed),
    Check("dropout", "dropout of a model in train mode has no effect", _dropout),
    Check("no-grad", "a caller without gradients gets the same scores", _inference_only),
)
