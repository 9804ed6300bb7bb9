"""Attribution classes of Captum as methods. Captum itself is only what the caller passes: nothing of it is imported.

Tokens are explained, not ids: the class gets the embedded text, a function from it to p_j and, where it takes one, a
baseline of zeros. What it does to begin, end, query and padding never reaches the model.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch import Tensor

from faithboard.attribution import Method, StepCost, method
from faithboard.batch import Batch
from faithboard.buckets import token_batches, token_budget
from faithboard.classifier import Classifier, predicted_class
from faithboard.errors import ContractError, near
from faithboard.gradients import differentiable_recurrence
from faithboard.rng import Rng

if TYPE_CHECKING:
    from jaxtyping import Float, Float64, Int

Forward = Callable[[Tensor, Tensor], Tensor]
"""(embedded texts, number of the text in the batch for each) -> p_j of each."""
Reduction = Literal["sum", "l2"]

_OURS = ("inputs", "target", "additional_forward_args", "return_convergence_delta")
_MOST_SEED = 2**31 - 1


def from_captum(
    attribution: Callable[[Forward], Any],
    *,
    name: str,
    kind: Literal["sensitivity", "contribution"],
    signed: bool,
    reduce: Reduction = "sum",
    source: str = "",
    stochastic: bool = False,
    draws: int = 1,
    steps: StepCost | None = None,
    **arguments: Any,
) -> Method:
    """A method from an attribution class of Captum, or from a function that makes one from a forward function.

        from captum.attr import IntegratedGradients
        IG = from_captum(IntegratedGradients, name="captum-ig", kind="contribution", signed=True, n_steps=64)

    It explains p_j, the probability of the predicted class, as a function of the embedded text. `arguments` go to its
    `attribute`; where that takes `baselines` they are zeros unless given, where it takes a `feature_mask` every token
    is one feature, and where it takes an `internal_batch_size` memory decides. `reduce` makes one score of a token's
    dimensions: their sum or their L2 norm. A class that draws random numbers is `stochastic`: it runs on one text at a
    time, seeded by the rng of the method.

    Raises ContractError for a class that needs the layers of the network (DeepLift, LRP, GuidedBackprop), an argument
    that its `attribute` does not take, and one that is not the caller's to give.
    """
    label = getattr(attribution, "__name__", type(attribution).__name__)
    if reduce not in ("sum", "l2"):
        raise ContractError(f"method {name}: unknown reduction {reduce!r}; {near(reduce, ('sum', 'l2'))}")
    if isinstance(attribution, type):
        if "model" in inspect.signature(attribution).parameters:
            raise ContractError(
                f"method {name}: {label} changes layers of a network, and a Classifier is known by its embeddings alone"
            )
        _check_arguments(name, label, attribution.attribute, arguments)  # type: ignore[attr-defined]
    by_gradient = not isinstance(attribution, type) or any(
        base.__name__ == "GradientAttribution" for base in attribution.__mro__
    )
    explain = CaptumExplain(name, label, attribution, reduce, stochastic or draws > 1, arguments)
    declare = method(
        name,
        kind=kind,
        signed=signed,
        source=source or f"Captum (Kokhlikyan et al. 2020): {label} of p_j at the embedded text, {_described(reduce)}",
        needs={"gradients"} if by_gradient else (),
        draws=draws,
        stochastic=stochastic or None,
        steps=steps,
    )
    return declare(explain)


def _described(reduce: Reduction) -> str:
    return "summed over dimensions" if reduce == "sum" else "L2 norm over dimensions"


def _check_arguments(name: str, label: str, attribute: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """Raise ContractError for arguments that are not the caller's, or not those of `attribute`."""
    taken = inspect.signature(attribute).parameters
    anything = any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values())
    for argument in arguments:
        if argument in _OURS:
            raise ContractError(f"method {name}: {argument} of {label}.attribute is given by faithboard")
        if argument not in taken and not anything:
            allowed = [one for one in taken if one not in (*_OURS, "self")]
            raise ContractError(f"method {name}: {label}.attribute takes no {argument!r}; {near(argument, allowed)}")


@dataclass(frozen=True)
class CaptumExplain:
    """The function of a method that `from_captum` makes."""

    name: str
    label: str
    attribution: Callable[[Forward], Any]
    reduce: Reduction
    stochastic: bool
    arguments: Mapping[str, Any]

    def __call__(self, model: Classifier, batch: Batch, rng: Rng) -> Float64[Tensor, "batch token"]:
        scores = torch.zeros(batch.ids.shape, dtype=torch.float64, device=batch.device)
        seeds = rng.integers(_MOST_SEED).tolist() if self.stochastic else []
        with torch.enable_grad(), differentiable_recurrence(model):
            for rows in self._parts(batch):
                part = batch.rows(rows)
                with _seeded(seeds[int(rows[0])] if self.stochastic else None, batch.device):
                    scores[rows, : part.ids.shape[1]] = self._scores(model, part)
        return scores

    def _parts(self, batch: Batch) -> Iterable[Int[Tensor, "row"]]:
        if self.stochastic:
            # What is drawn for one text must not depend on those beside it.
            return torch.arange(len(batch), device=batch.device).split(1)
        return token_batches(batch.lengths, token_budget(batch.device, gradients=True))

    def _scores(self, model: Classifier, batch: Batch) -> Float64[Tensor, "batch token"]:
        with torch.no_grad():
            embedded = model.embed(batch)
        found = self.attribution(_probability(model, batch, embedded))
        if not isinstance(self.attribution, type):
            _check_arguments(self.name, self.label, found.attribute, self.arguments)
        taken = inspect.signature(found.attribute).parameters
        given = {name: make(batch, embedded) for name, make in _GIVEN.items() if name in taken} | dict(self.arguments)
        scores: Tensor = found.attribute(
            embedded.clone().requires_grad_(),
            additional_forward_args=(torch.arange(len(batch), device=batch.device),),
            **given,
        )
        scores = scores.detach().double()
        if "feature_mask" in taken and "feature_mask" not in self.arguments:
            # A feature's value stands at each of its dimensions.
            return scores[:, :, 0]
        return scores.sum(-1) if self.reduce == "sum" else torch.linalg.vector_norm(scores, dim=-1)


def _probability(model: Classifier, batch: Batch, embedded: Float[Tensor, "batch token dim"]) -> Forward:
    """p_j of texts of `batch`, j the class predicted on the full text, whatever stands at positions not scorable."""
    with torch.no_grad():
        target = predicted_class(model(batch, embedded=embedded).log_probabilities(batch.candidates))

    def forward(point: Float[Tensor, "row token dim"], rows: Int[Tensor, "row"]) -> Float64[Tensor, "row"]:
        part = batch.rows(rows)
        width = part.ids.shape[1]
        inside = torch.where(part.scorable[:, :, None], point[:, :width].to(embedded.dtype), embedded[rows, :width])
        log_p = model(part, embedded=inside).log_probabilities(part.candidates)
        return log_p.gather(1, target[rows, None])[:, 0].exp()

    return forward


def _zeros(batch: Batch, embedded: Float[Tensor, "batch token dim"]) -> Float[Tensor, "batch token dim"]:
    return embedded.masked_fill(batch.scorable[:, :, None], 0.0)


def _one_feature_per_token(batch: Batch, embedded: Float[Tensor, "batch token dim"]) -> Int[Tensor, "text token dim"]:
    """The number of each token; of a text alone, all that is not scorable is one more feature, which does nothing."""
    if len(batch) == 1:
        place = torch.where(batch.scorable, batch.scorable.cumsum(1) - 1, batch.scorable.sum())
    else:
        place = torch.arange(batch.ids.shape[1], device=batch.device)[None]
    return place[:, :, None].repeat(1, 1, embedded.shape[2])


def _rows_in_memory(batch: Batch, embedded: Float[Tensor, "batch token dim"]) -> int:
    return max(len(batch), token_budget(batch.device, gradients=True) // max(1, batch.ids.shape[1]))


_GIVEN: Mapping[str, Callable[[Batch, Tensor], Any]] = {
    "baselines": _zeros,
    "feature_mask": _one_feature_per_token,
    "internal_batch_size": _rows_in_memory,
}
"""Arguments of `attribute` that are given to classes that take them, unless the caller does."""


@contextmanager
def _seeded(seed: int | None, device: torch.device) -> Iterator[None]:
    """The global random states of torch and numpy, which Captum draws from, seeded for the block and put back."""
    if seed is None:
        yield
        return
    in_numpy = np.random.get_state()
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        np.random.seed(seed)
        try:
            yield
        finally:
            np.random.set_state(in_numpy)
