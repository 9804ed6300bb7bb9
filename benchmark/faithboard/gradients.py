"""The gradient of the predicted class's probability, exact near 0 and 1, without changing the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn

from faithboard.batch import Batch
from faithboard.buckets import token_batches, token_budget
from faithboard.classifier import Classifier, Output, predicted_class, untouched

if TYPE_CHECKING:
    from jaxtyping import Float, Float64, Int

Of = Literal["probability", "logit"]

_IN_HAND = 8
"""Points are held until they fill as many passes: the more there are, the less padding is between like lengths."""


def class_gradient(
    model: Classifier,
    batch: Batch,
    *,
    embedded: Float[Tensor, "batch token dim"] | None = None,
    target: Int[Tensor, "batch"] | None = None,
    detach_attention: bool = False,
    of: Of = "probability",
) -> Float[Tensor, "batch token dim"]:
    """d p_j / d embedded at `embedded`, the model's own embedding of the batch when None is given.

    j is the class predicted at `embedded`. A method that moves the input fixes j on the full text and passes it as
    `target`. The derivative is taken as p_j d log p_j, with log p_j in float64: taken through p_j itself it loses its
    digits where the model is sure. With `of="logit"` it is that of the logit of j, for a single output z that of z or
    -z. Padding and queries have gradients too; scores are read at scorable tokens only.

    It is one pass over the whole batch; `class_gradients` splits it where it is large or holds texts of many lengths.
    The model may be in train or eval mode. It runs in eval mode and is left as it was: mode, requires_grad, gradients.
    """
    with untouched(model), torch.enable_grad(), differentiable_recurrence(model):
        point = (model.embed(batch) if embedded is None else embedded).detach().requires_grad_()
        output = model(batch, embedded=point, detach_attention=detach_attention)
        log_p = output.log_probabilities(batch.candidates)
        j = (predicted_class(log_p) if target is None else target)[:, None]
        if of == "logit":
            return torch.autograd.grad(_logits(output).gather(1, j).sum(), point)[0]
        log_p_j = log_p.gather(1, j)
        (gradient,) = torch.autograd.grad(log_p_j.sum(), point)
    return (gradient * log_p_j.detach().exp()[:, :, None]).to(gradient.dtype)


def class_gradients(
    model: Classifier,
    batch: Batch,
    points: Iterable[Float[Tensor, "batch token dim"]],
    *,
    target: Int[Tensor, "batch"] | None = None,
    detach_attention: bool = False,
    of: Of = "probability",
    budget: int | None = None,
) -> Iterator[Float[Tensor, "batch token dim"]]:
    """`class_gradient` at each of many `points`, in their order, in as many passes as it takes.

    Several points share a pass: texts and points of like length run together, at most `budget` tokens with padding
    counted (`token_budget` of the device with gradients by default), longer texts one by one. Points are drawn from
    the iterable as they are needed, so that hundreds of a long text are never in memory at once: give a generator.
    Gradients on padding are 0. A pass that does not fit into memory is halved. Give the class predicted on the full
    text as `target`: without it j is that of each point.

        steps = (base + u * (embedded - base) for u in (0.1, 0.5, 0.9))
        mean = sum(class_gradients(model, batch, steps, target=j)) / 3
    """
    budget = budget or token_budget(batch.device, gradients=True)
    held = max(1, _IN_HAND * budget // max(1, batch.ids.numel()))
    remaining = iter(points)
    while block := list(islice(remaining, held)):
        found = _at_all(model, batch, torch.stack(block), target, budget, detach_attention, of)
        yield from found.unbind(0)


def _at_all(
    model: Classifier,
    batch: Batch,
    points: Float[Tensor, "point batch token dim"],
    target: Int[Tensor, "batch"] | None,
    budget: int,
    detach_attention: bool,
    of: Of,
) -> Float[Tensor, "point batch token dim"]:
    """Gradients at points that are all in memory."""
    texts = len(batch)
    flat = points.flatten(0, 1)
    found = torch.zeros_like(flat)
    waiting = list(token_batches(batch.lengths.repeat(len(points)), budget))
    while waiting:
        rows = waiting.pop(0)
        part = batch.rows(rows % texts)
        width = part.ids.shape[1]
        try:
            gradient = class_gradient(
                model,
                part,
                embedded=flat[rows, :width],
                target=None if target is None else target[rows % texts],
                detach_attention=detach_attention,
                of=of,
            )
        except torch.OutOfMemoryError:
            if len(rows) == 1:
                raise
            waiting[:0] = rows.tensor_split(2)
            continue
        found[rows, :width] = gradient.to(found.dtype)
    return found.unflatten(0, points.shape[:2])


def _logits(output: Output) -> Float64[Tensor, "batch class"]:
    """One logit per class in float64; a single output z is that of class 1, and -z that of class 0."""
    logits = output.logits.double()
    return torch.cat([-logits, logits], -1) if logits.shape[-1] == 1 else logits


@contextmanager
def differentiable_recurrence(model: nn.Module) -> Iterator[None]:
    """Recurrent layers that can be differentiated in eval mode, on a GPU too, for the block."""
    # cuDNN's recurrent backward refuses eval mode, and train mode would switch dropout on.
    if not any(isinstance(module, nn.RNNBase) for module in model.modules()):
        yield
        return
    enabled = torch.backends.cudnn.enabled
    torch.backends.cudnn.enabled = False
    try:
        yield
    finally:
        torch.backends.cudnn.enabled = enabled
