"""The gradient of the predicted class's probability, exact near 0 and 1, without changing the model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from faithboard.batch import Batch
from faithboard.classifier import Classifier, predicted_class, untouched

if TYPE_CHECKING:
    from jaxtyping import Float, Int


def class_gradient(
    model: Classifier,
    batch: Batch,
    *,
    embedded: Float[Tensor, "batch token dim"] | None = None,
    target: Int[Tensor, "batch"] | None = None,
    detach_attention: bool = False,
) -> Float[Tensor, "batch token dim"]:
    """d p_j / d embedded at `embedded`, the model's own embedding of the batch when None is given.

    j is the class predicted at `embedded`. A method that moves the input fixes j on the full text and passes it as
    `target`. The derivative is taken as p_j d log p_j, with log p_j in float64: taken through p_j itself it loses its
    digits where the model is sure. Padding and queries have gradients too; scores are read at scorable tokens only.

    The model may be in train or eval mode. It runs in eval mode and is left as it was: mode, requires_grad, gradients.
    """
    with untouched(model), torch.enable_grad(), _differentiable_recurrence(model):
        point = (model.embed(batch) if embedded is None else embedded).detach().requires_grad_()
        log_p = model(batch, embedded=point, detach_attention=detach_attention).log_probabilities(batch.candidates)
        j = predicted_class(log_p) if target is None else target
        log_p_j = log_p.gather(1, j[:, None])
        (gradient,) = torch.autograd.grad(log_p_j.sum(), point)
    return (gradient * log_p_j.detach().exp()[:, :, None]).to(gradient.dtype)


@contextmanager
def _differentiable_recurrence(model: nn.Module) -> Iterator[None]:
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
