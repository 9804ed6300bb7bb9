"""Each method works on a copy of the model of its own, so that nothing it does to it reaches another method or a score.

What a method did to its copy is found all the same: it would not explain the model that is scored.
"""

from __future__ import annotations

import copy
import random

import numpy as np
import torch
from torch import Tensor, nn

from faithboard.classifier import Classifier
from faithboard.errors import ContractError

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def copied(model: Classifier) -> Classifier:
    """`model` once more, with parameters, buffers, hooks and attributes of its own.

    Raises ContractError for a model that `copy.deepcopy` cannot copy.
    """
    try:
        own = copy.deepcopy(model)
    except Exception as error:
        raise ContractError(
            f"the model cannot be copied ({type(error).__name__}: {error}); every method is given a copy of its own, "
            "so copy.deepcopy(model) must work: keep no tensor of a graph and no open file as an attribute"
        ) from error
    for module in own.modules():
        if isinstance(module, nn.RNNBase):
            # Copied one by one, the weights are no longer the one block that cuDNN wants: it would copy them each pass.
            module.flatten_parameters()
    return own


class Watch:
    """Remembers a copy of the model, fresh from `copied`, and the global random states, before a method runs."""

    def __init__(self, model: Classifier, own: Classifier) -> None:
        self.model, self.own = model, own
        self.switches = _switches(own)
        self.randomness = _randomness(own.device)

    def check(self, name: str) -> None:
        """Raise ContractError where the method `name` left anything else than it found."""
        if _switches(self.own) != self.switches:
            raise ContractError(f"method {name} changed the model; it must leave it as it found it")
        before, after = (_tensors(model) for model in (self.model, self.own))
        if before.keys() != after.keys() or not all(_same(value, after[place]) for place, value in before.items()):
            raise ContractError(f"method {name} changed the model's weights; it must leave them as it found them")
        for source, state in _randomness(self.own.device).items():
            if state != self.randomness[source]:
                raise ContractError(f"method {name} drew from {source}'s global random state; draw from its rng")


def _switches(model: Classifier) -> list[tuple[object, ...]]:
    """What a method could leave behind beside changed weights: gradients, modes, hooks."""
    parameters = [(p.requires_grad, p.grad is None) for p in model.parameters()]
    modules = [(module.training, *(len(getattr(module, name)) for name in _HOOKS)) for module in model.modules()]
    return [*parameters, *modules]


def _tensors(model: Classifier) -> dict[str, Tensor]:
    return dict(model.named_parameters()) | dict(model.named_buffers())


def _same(a: Tensor, b: Tensor) -> bool:
    """Equal values of one shape and type, NaN being equal to NaN."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return torch.equal(a, b) or bool(((a == b) | ((a != a) & (b != b))).all())


def _randomness(device: torch.device) -> dict[str, object]:
    """The global random states, by whose they are."""
    in_numpy = np.random.get_state(legacy=False)
    assert isinstance(in_numpy, dict)
    torchs = [torch.get_rng_state(), *([torch.cuda.get_rng_state(device)] if device.type == "cuda" else [])]
    return {
        "torch": [state.numpy().tobytes() for state in torchs],
        "numpy": repr({**in_numpy, "state": {k: np.asarray(v).tobytes() for k, v in in_numpy["state"].items()}}),
        "random": random.getstate(),
    }
