"""The contract of a model: what methods, metrics and probes may ask of it.

A `Classifier` need not be recurrent, need not have attention and need not be trained here. It says what it can do in
`capabilities`, and everything that needs more is refused at planning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from faithboard.batch import Batch, Specials
from faithboard.errors import ContractError

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Float64, Int

    from faithboard.rules import Rules


@dataclass(frozen=True)
class Output:
    """What one forward pass gives."""

    logits: Float[Tensor, "batch output"]
    """One output per class, or a single one, the logit of class 1, for two classes."""
    attention: Float[Tensor, "batch token"] | None = None
    """Weights over the tokens of the batch, 0 wherever a token gets none; None for a model without attention."""
    hidden: Float[Tensor, "batch token hidden"] | None = None
    """Encoder states at the tokens of the batch, 0 where the explained encoder did not run."""
    query: Float[Tensor, "batch hidden"] | None = None
    """Summary of the query, for models that encode it apart."""

    def log_probabilities(
        self, candidates: Bool[Tensor, "batch class"] | None = None
    ) -> Float64[Tensor, "batch class"]:
        """Log probabilities in float64, exact near 0 and 1; classes that are no candidate get -inf."""
        return log_probabilities(self.logits, candidates)


def log_probabilities(
    logits: Float[Tensor, "batch output"], candidates: Bool[Tensor, "batch class"] | None = None
) -> Float64[Tensor, "batch class"]:
    """Log probabilities in float64 from float32 logits, so that saturation does not tie everything.

    A single output z is read as two classes with log sigmoid(-z) and log sigmoid(z).
    """
    exact = logits.double()
    if exact.shape[-1] == 1:
        return torch.cat([nn.functional.logsigmoid(-exact), nn.functional.logsigmoid(exact)], -1)
    if candidates is not None:
        exact = exact.masked_fill(~candidates, -torch.inf)
    log_p = exact.log_softmax(-1)
    # Near 1 a log probability is the tiny share of the other classes, which log_softmax rounds away.
    top = exact.argmax(-1, keepdim=True)
    own = exact.gather(-1, top)
    others = exact.scatter(-1, top, torch.finfo(exact.dtype).min).clamp(min=torch.finfo(exact.dtype).min)
    surest = -nn.functional.softplus(others.logsumexp(-1, keepdim=True) - own)
    return log_p.scatter(-1, top, surest)


Decoder = Callable[[Tensor], Tensor]
"""Attention `[batch, several, token]` over fixed states -> logits `[batch, several, output]`."""


class Classifier(nn.Module):
    """Base of every model. Subclasses implement `embed` and `forward`; those with attention also `decode`."""

    n_classes: int
    specials: Specials
    capabilities: frozenset[str] = frozenset()
    """Subset of `gradients`, `attention`, `decode`, `rules`, `several-classes`. A method's `needs` must be a part of
    it."""

    def counted(self) -> tuple[nn.Module, ...]:
        """Modules whose work is counted in token steps; each is called as `module(states, real, ...)`.

        `states` is `[batch, token, dim]` and `real` the boolean mask of the tokens it runs over.
        """
        raise self._lacks(
            "counted", "the tuple of modules whose token steps are counted, each called as module(states, real, ...)"
        )

    def embed(self, batch: Batch) -> Float[Tensor, "batch token dim"]:
        """Embeddings of all tokens of the batch, queries included."""
        raise self._lacks("embed", "the embeddings of all tokens of the batch, [batch, token, dim]")

    def forward(
        self,
        batch: Batch,
        embedded: Float[Tensor, "batch token dim"] | None = None,
        attention: Float[Tensor, "batch token"] | None = None,
        detach_attention: bool = False,
        rules: Rules | None = None,
    ) -> Output:
        """One pass. `embedded`, `attention` replace what the model computes; `detach_attention` makes it a constant.

        `rules` decide what every primitive passes back (`faithboard.Rules`). Only models with the capability `rules`
        take them; others may leave the argument out.
        """
        raise self._lacks("forward", "an Output with the logits of the batch, [batch, output]")

    def decode(
        self,
        hidden: Float[Tensor, "batch token hidden"],
        attention: Float[Tensor, "batch token"],
        batch: Batch,
        query: Float[Tensor, "batch hidden"] | None = None,
    ) -> Float[Tensor, "batch output"]:
        """Logits from given states and weights. `query` is `Output.query`; without it the query is encoded again."""
        raise self._lacks("decode", "logits [batch, output] from given states and attention")

    def without_token(
        self, batch: Batch, text: Int[Tensor, "row"], position: Int[Tensor, "row"]
    ) -> Float[Tensor, "row output"]:
        """Logits, without gradients, of row r: text `text[r]` with the scorable token at `position[r]` deleted.

        The text is encoded again. A model may override this by something faster that gives the same.
        """
        full = batch.rows(text)
        with torch.no_grad():
            return self(full.without(nn.functional.one_hot(position, full.ids.shape[1]).bool())).logits

    def decoder(self, output: Output, batch: Batch) -> Decoder:
        """A function from many attention distributions over the states of `output` to their logits.

        A model may offer a faster way than decoding each of them.
        """
        hidden = output.hidden
        if hidden is None:
            raise ValueError("this model gave no states that could be decoded")

        def decode(attention: Float[Tensor, "batch several token"]) -> Float[Tensor, "batch several output"]:
            return torch.stack(
                [self.decode(hidden, one, batch, output.query) for one in attention.unbind(1)],
                dim=1,
            )

        return decode

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def _lacks(self, method: str, returned: str) -> ContractError:
        return ContractError(f"the class {type(self).__name__} lacks the method `{method}`; it must return {returned}")


@torch.no_grad()
def predict(model: Classifier, batch: Batch) -> Float64[Tensor, "batch class"]:
    """Probabilities in float64, one forward pass in eval mode, without gradients."""
    with untouched(model):
        return model(batch).log_probabilities(batch.candidates).exp()


def predicted_class(log_p: Float64[Tensor, "batch class"]) -> Int[Tensor, "batch"]:
    """j of the definitions: the most probable class, the first of them on a tie."""
    return log_p.argmax(-1)


@dataclass
class Steps:
    """Token steps through the counted modules: one step is one real token of one text in one pass of one module."""

    forward: int = 0
    backward: int = 0


@contextmanager
def count_steps(model: Classifier) -> Iterator[Steps]:
    """Count token steps of `model`, forward and backward apart, while the block runs.

    A forward step is counted when a counted module runs; a backward step when a gradient flows into its output.
    """
    steps = Steps()

    def after(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        tokens = int(inputs[1].sum())
        steps.forward += tokens
        if output.requires_grad:

            def on_gradient(gradient: Tensor) -> None:
                steps.backward += tokens

            output.register_hook(on_gradient)

    handles = [module.register_forward_hook(after) for module in model.counted()]
    try:
        yield steps
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def untouched(model: Classifier) -> Iterator[None]:
    """Eval mode without parameter gradients for the block; everything is put back afterwards, whatever happens."""
    modes = {module: module.training for module in model.modules()}
    wanted = {parameter: parameter.requires_grad for parameter in model.parameters()}
    model.eval()
    for parameter in wanted:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode
        for parameter, requires_grad in wanted.items():
            parameter.requires_grad_(requires_grad)
