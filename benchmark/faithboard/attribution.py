"""What a method is: a function from a model and a batch to scores, with what a reader must know to read them.

The smallest submission is a plain function:

    @method("norm-of-embedding", kind="sensitivity", signed=False, source="an example")
    def norm_of_embedding(model, batch, rng):
        return model.embed(batch).norm(dim=-1)
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier, untouched
from faithboard.errors import ContractError, near
from faithboard.rng import Rng

if TYPE_CHECKING:
    from jaxtyping import Float

    from faithboard.background import Background

KINDS = ("sensitivity", "contribution", "reference")
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*")

NEEDS = frozenset({"gradients", "attention", "decode", "rules", "several-classes", "background"})
"""What a method can need: capabilities of the model, and the training texts as `background`, which a run always has."""


@dataclass(frozen=True)
class Attribution:
    """Scores of a method that promises what they sum to (integrated gradients, Shapley values, LRP)."""

    scores: Float[Tensor, "batch token"]
    total: Float[Tensor, "batch"] | None = None


Explain = Callable[..., "Tensor | Attribution"]
"""`(model, batch, rng)`, and `background` as a fourth argument for a method that needs it."""
StepCost = Callable[[int], tuple[float, float]]
"""Scorable length T -> planned token steps (forward, backward) of one example, special tokens apart."""


@dataclass(frozen=True)
class Method:
    """An explanation method. `scores[b, t]` is evidence for the class the model predicts on text b."""

    name: str
    explain: Explain
    kind: Literal["sensitivity", "contribution", "reference"]
    """How much the output would move, or how much the token added to it; `reference` rows stand beside all others to
    compare with: chance, what the data alone says, the ceiling."""
    signed: bool
    source: str
    """The paper and equation, or the place where the definition stands."""
    needs: frozenset[str] = frozenset()
    draws: int = 1
    """Independent repetitions per example; every metric is the mean over them. Above 1 only for stochastic methods."""
    stochastic: bool = False
    steps: StepCost | None = None
    """Planned cost; None for a submission that does not say, and `plan` shows it as unknown."""
    training: str = "standard"
    """Name of the training procedure of the models it explains."""
    base: str | None = None
    """For a variant: the method whose function it borrows; the resolver joins them."""

    def __call__(self, model: Classifier, batch: Batch, rng: Rng) -> Attribution:
        """Run the method, the model in eval mode and put back afterwards, and check its contract.

        Raises ContractError.
        """
        if "background" in self.needs:
            raise ContractError(f"method {self.name} needs a background: call method.given(background) first")
        with untouched(model):
            result = self.explain(model, batch, rng)
            if any(module.training for module in model.modules()):
                raise ContractError(f"method {self.name} switched the model to training mode; leave it in eval mode")
        found = result if isinstance(result, Attribution) else Attribution(result)
        _check(self.name, found, batch)
        if not self.signed and bool((found.scores.masked_fill(~batch.scorable, 0.0) < 0).any()):
            raise ContractError(f"method {self.name} is declared unsigned, but some of its scores are negative")
        scores = found.scores.detach().float().masked_fill(~batch.scorable, 0.0)
        if not bool(torch.isfinite(scores).all()):
            raise ContractError(f"method {self.name}: scores must fit into float32; some are too large")
        return Attribution(scores, None if found.total is None else found.total.detach().float())

    def given(self, background: Background) -> Method:
        """The method with its background, ready to be called; a method that needs none as it is."""
        if "background" not in self.needs:
            return self
        explain = self.explain
        return replace(
            self,
            explain=lambda model, batch, rng: explain(model, batch, rng, background),
            needs=self.needs - {"background"},
        )


def method(
    name: str,
    *,
    kind: Literal["sensitivity", "contribution", "reference"],
    signed: bool,
    source: str,
    needs: Iterable[str] = (),
    draws: int = 1,
    stochastic: bool | None = None,
    steps: StepCost | None = None,
) -> Callable[[Explain], Method]:
    """Turn `(model, batch, rng) -> scores [batch, token]` into a method. See `Method` for the arguments.

    Raises ContractError for a need that no model can have, an unknown kind, a name of other signs, more than one draw
    of a method that is not stochastic, and a function that takes other arguments.
    """
    needs = frozenset(needs)
    unknown = needs - NEEDS
    if unknown:
        raise ContractError(f"method {name}: unknown need {sorted(unknown)}; a method can need {sorted(NEEDS)}")
    if kind not in KINDS:
        raise ContractError(f"method {name}: unknown kind {kind!r}; {near(kind, KINDS)}")
    _check_name(name)
    if draws < 1 or (draws > 1 and stochastic is False):
        rule = "there is one draw at least" if draws < 1 else "only a stochastic method is drawn more than once"
        raise ContractError(f"method {name}: draws={draws}, but {rule}")

    arguments = ["model", "batch", "rng", *(["background"] if "background" in needs else [])]

    def decorate(explain: Explain) -> Method:
        try:
            inspect.signature(explain).bind(*arguments)
        except TypeError as error:
            raise ContractError(f"method {name}: the function takes ({', '.join(arguments)}): {error}") from error
        return Method(
            name=name,
            explain=explain,
            kind=kind,
            signed=signed,
            source=source,
            needs=needs,
            draws=draws,
            stochastic=draws > 1 if stochastic is None else stochastic,
            steps=steps,
        )

    return decorate


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ContractError(f"method {name!r}: a name is made of [a-z0-9_.-] and begins with a letter or digit")


def _no_base(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    raise ContractError("a variant runs only after the resolver has joined it with its base method")


def variant(base: str, *, training: str, name: str | None = None) -> Method:
    """The method `base` on models of another training procedure, as a method of its own.

    Raises ContractError for a name of other signs than a method may have.
    """
    name = name or f"{base}-{training}"
    _check_name(name)
    return Method(
        name=name,
        explain=_no_base,
        kind="reference",
        signed=False,
        source="",
        training=training,
        base=base,
    )


def joined(changed: Method, base: Method) -> Method:
    """A variant with everything it does not change taken from its base."""
    return replace(base, name=changed.name, training=changed.training, base=base.name)


def _check(name: str, found: Attribution, batch: Batch) -> None:
    scores, expected = found.scores, tuple(batch.ids.shape)
    if not isinstance(scores, Tensor) or tuple(scores.shape) != expected:
        shape = tuple(scores.shape) if isinstance(scores, Tensor) else type(scores).__name__
        raise ContractError(f"method {name}: scores must be a tensor [batch, token] = {expected}, got {shape}")
    if not scores.is_floating_point():
        raise ContractError(f"method {name}: scores must be floating point, got {scores.dtype}")
    if scores.device != batch.device:
        raise ContractError(f"method {name}: scores are on {scores.device}, the batch is on {batch.device}")
    bad = ~torch.isfinite(scores) & batch.scorable
    if bool(bad.any()):
        row, token = (int(i) for i in bad.nonzero()[0])
        raise ContractError(
            f"method {name}: {int(bad.sum())} scores are not finite, the first at token {token} of example "
            f"{batch.example_id[row]}; every scorable token needs a finite score"
        )
    if found.total is not None and tuple(found.total.shape) != expected[:1]:
        raise ContractError(
            f"method {name}: total must be a tensor [batch] = {expected[:1]}, got {tuple(found.total.shape)}"
        )
