"""The contract of a method as small named checks. Every built-in passes them, and a submission is told which it fails.

A check runs a method on a model and a batch of texts and raises ContractError with the reason; `check_method` runs them
all and returns what each found. What a check compares is compared to within the tolerance of the contract.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from faithboard.attribution import Method
from faithboard.batch import Batch
from faithboard.classifier import Classifier, count_steps
from faithboard.erasure import without_each_token
from faithboard.errors import ContractError
from faithboard.rng import Rng

if TYPE_CHECKING:
    from jaxtyping import Float

_SEED = 0
_BATCH_SIZES = (1, 2, 7)
_BATCHES = 9
"""Batches of each size that are tried, spread over the texts."""
_DIFFERENT = 1e-4
"""Change of a probability from which two places of a word count as different to the model."""


@dataclass(frozen=True)
class Check:
    """One rule of the contract and the function that tries a method against it."""

    name: str
    rule: str
    run: Callable[[Method, Classifier, Batch], None]


@dataclass(frozen=True)
class Finding:
    """What one check found."""

    name: str
    rule: str
    passed: bool
    reason: str = ""
    """Why it failed."""


def check_method(method: Method, model: Classifier, batch: Batch) -> list[Finding]:
    """Every check of `CHECKS`, in order. `batch` should hold texts of many lengths; 64 of them try all batch sizes.

    An exception from the method counts against the check in which it came; none is let through.
    """
    findings = []
    for check in CHECKS:
        try:
            check.run(method, model, batch)
        except ContractError as error:
            findings.append(Finding(check.name, check.rule, False, str(error)))
        except Exception as error:  # noqa: BLE001 - a submission may raise anything, and the finding says what
            findings.append(Finding(check.name, check.rule, False, f"{type(error).__name__}: {error}"))
        else:
            findings.append(Finding(check.name, check.rule, True))
    return findings


def tolerance(batch: Batch) -> float:
    """Largest difference that counts as equal, as a share of the example's largest absolute score."""
    return 1e-5 if batch.device.type == "cpu" else 1e-3


def _scores(method: Method, model: Classifier, batch: Batch, seed: int = _SEED) -> Float[Tensor, "batch token"]:
    return method(model, batch, Rng(seed, batch)).scores


def _compare(found: Tensor, expected: Tensor, batch: Batch, what: str) -> None:
    """Raise ContractError when scores of `batch` differ by more than the tolerance; extra columns must be padding."""
    found = found[:, : expected.shape[1]]
    scale = expected.abs().amax(1, keepdim=True)
    off = (found - expected).abs() / scale.where(scale > 0, 1.0)
    worst = float(off.max())
    if worst > tolerance(batch):
        row, token = divmod(int(off.argmax()), off.shape[1])
        raise ContractError(
            f"{what}: token {token} of example {batch.example_id[row]} has {float(found[row, token]):.6g} instead of "
            f"{float(expected[row, token]):.6g}, {worst:.1e} of the example's largest score apart"
        )


def _scores_fit(method: Method, model: Classifier, batch: Batch) -> None:
    # Calling the method checks shape, dtype, device and finite values, and names the first that is wrong.
    _scores(method, model, batch)


def _any_batch_size(method: Method, model: Classifier, batch: Batch) -> None:
    whole = _scores(method, model, batch)
    for size in _BATCH_SIZES:
        for start in range(0, len(batch), max(size, len(batch) // _BATCHES)):
            part = batch.rows(slice(start, start + size))
            expected = whole[start : start + size, : part.ids.shape[1]]
            _compare(_scores(method, model, part), expected, part, f"in batches of {size} instead of {len(batch)}")


def _any_order(method: Method, model: Classifier, batch: Batch) -> None:
    order = torch.arange(len(batch) - 1, -1, -1, device=batch.device)
    turned = batch.rows(order)
    _compare(_scores(method, model, turned), _scores(method, model, batch)[order], turned, "with the texts in reverse")


def _extra_padding(method: Method, model: Classifier, batch: Batch) -> None:
    padded = batch.padded_to(batch.ids.shape[1] + 5)
    _compare(_scores(method, model, padded), _scores(method, model, batch), batch, "with five more padding tokens")


def _content_of_padding(method: Method, model: Classifier, batch: Batch) -> None:
    padded = batch.padded_to(batch.ids.shape[1] + 2)
    word = batch.ids[batch.scorable][0]
    filled = replace(padded, ids=torch.where(padded.real, padded.ids, word))
    _compare(_scores(method, model, filled), _scores(method, model, batch), batch, "with a word's id on the padding")


def _same_seed(method: Method, model: Classifier, batch: Batch) -> None:
    first, again = _scores(method, model, batch), _scores(method, model, batch)
    _compare(again, first, batch, "called again with the same seed")


def _other_seed(method: Method, model: Classifier, batch: Batch) -> None:
    first, other = _scores(method, model, batch), _scores(method, model, batch, _SEED + 1)
    if not method.stochastic:
        _compare(other, first, batch, "with another seed, and not declared stochastic")
    elif torch.equal(first, other):
        raise ContractError("declared stochastic, but another seed changes nothing: draw from the rng that is given")


def _global_random_state(method: Method, model: Classifier, batch: Batch) -> None:
    before = _random_state()
    _scores(method, model, batch)
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
                _scores(method, model, batch)
                after = _model_state(model)
            for name, value in before.items():
                if not _same(value, after[name]):
                    raise ContractError(f"the method changes the model: {name} is not what it was")
    finally:
        for parameter, gradient in gradients.items():
            parameter.grad = gradient


def _dropout(method: Method, model: Classifier, batch: Batch) -> None:
    with _mode(model, False):
        expected = _scores(method, model, batch)
    with _mode(model, True):
        found = _scores(method, model, batch)
    _compare(found, expected, batch, "with the model in train mode, dropout on")


def _inference_only(method: Method, model: Classifier, batch: Batch) -> None:
    expected = _scores(method, model, batch)
    with torch.no_grad():
        found = _scores(method, model, batch)
    _compare(found, expected, batch, "called under torch.no_grad()")


def _one_token(method: Method, model: Classifier, batch: Batch) -> None:
    _scores(method, model, batch.without(batch.scorable & (batch.scorable.cumsum(1) > 1)))


def _repeated_words(method: Method, model: Classifier, batch: Batch) -> None:
    """A word that stands twice is two tokens. Told by a model that answers differently without the one or the other."""
    several = batch.rows((batch.scorable_lengths > 2).nonzero()[:, 0])
    if method.kind == "reference" or len(several) == 0:
        return
    place = several.scorable.cumsum(1)
    last = several.scorable & (place == several.scorable_lengths[:, None])
    first = several.scorable & (place == 1)
    twice = several.replaced(last, several.ids[first][:, None].expand_as(several.ids))
    p = without_each_token(model, twice)
    matters = (p[first] - p[last]).abs().amax(1) > _DIFFERENT
    scores = _scores(method, model, twice)
    if bool(matters.any()) and bool((scores[first] == scores[last])[matters].all()):
        raise ContractError("a word that stands twice has one score in every text, though the model tells them apart")


def _planned_cost(method: Method, model: Classifier, batch: Batch) -> None:
    if method.steps is None:
        return
    for row in {int(length): row for row, length in enumerate(batch.lengths)}.values():
        one = batch.rows([row])
        with count_steps(model) as found:
            _scores(method, model, one)
        # The plan knows T alone; begin, end and query come on top, at most as if they were scorable too.
        t, length = int(one.scorable_lengths), int(one.lengths)
        least, most = method.steps(t), method.steps(length)
        if not (least[0] <= found.forward <= most[0] and least[1] <= found.backward <= most[1]):
            raise ContractError(
                f"example {one.example_id[0]} took {found.forward} token steps forward and {found.backward} backward; "
                f"planned are {least} for its {t} scorable tokens, and at most {most} with the {length} it has in all"
            )


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


def _model_state(model: Classifier) -> dict[str, Tensor | bool | None]:
    state: dict[str, Tensor | bool | None] = {}
    for name, module in model.named_modules():
        state[f"mode of {name or 'the model'}"] = module.training
    for name, value in model.state_dict().items():
        state[f"value of {name}"] = value.clone()
    for name, parameter in model.named_parameters():
        state[f"requires_grad of {name}"] = parameter.requires_grad
        state[f"gradient of {name}"] = None if parameter.grad is None else parameter.grad.clone()
    return state


def _same(a: Tensor | bool | None, b: Tensor | bool | None) -> bool:
    return torch.equal(a, b) if isinstance(a, Tensor) and isinstance(b, Tensor) else a is b


CHECKS = (
    Check("scores-fit", "scores are finite floats [batch, token] on the device of the batch", _scores_fit),
    Check("batch-size", "a text has the same scores in batches of 1, 2, 7 and all texts", _any_batch_size),
    Check("order", "a text has the same scores wherever it stands in the batch", _any_order),
    Check("extra-padding", "padding changes no score", _extra_padding),
    Check("content-of-padding", "what stands on the padding changes no score", _content_of_padding),
    Check("same-seed", "the same seed gives the same scores", _same_seed),
    Check("other-seed", "another seed gives other scores if, and only if, the method is stochastic", _other_seed),
    Check("global-random-state", "randomness comes from the given rng alone", _global_random_state),
    Check("model-untouched", "mode, parameters, requires_grad and gradients are as before", _model_untouched),
    Check("dropout", "dropout of a model in train mode has no effect", _dropout),
    Check("no-grad", "a caller without gradients gets the same scores", _inference_only),
    Check("one-token", "a text of one token has a finite score", _one_token),
    Check("repeated-words", "words that stand twice are scored by position", _repeated_words),
    Check("planned-cost", "token steps are those planned", _planned_cost),
)
"""Every check, in the order in which they are run and told."""
