"""Delete one word, encode the rest again, and see what changes."""

from __future__ import annotations

from torch import Tensor

from faithboard import Batch, Classifier, Rng, method, predict, predicted_class, without_each_token


def each_once(length: int) -> tuple[int, int]:
    """Planned token steps: the full text, then T texts of T - 1 tokens."""
    return length * length, 0


@method(
    "leave-one-out",
    kind="contribution",
    signed=True,
    source="Li et al. 2016 (erasure); p_j(x) - p_j(x without t)",
    steps=each_once,
)
def leave_one_out(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """How far the probability of the predicted class falls without the token."""
    p = predict(model, batch)
    j = predicted_class(p)[:, None]
    without = without_each_token(model, batch)
    return p.gather(1, j) - without.gather(2, j[:, :, None].expand(-1, without.shape[1], -1))[:, :, 0]


@method(
    "leave-one-out-tvd",
    kind="sensitivity",
    signed=False,
    source="Jain & Wallace 2019, section 4.1: total variation distance of the output without t",
    steps=each_once,
)
def leave_one_out_tvd(model: Classifier, batch: Batch, rng: Rng) -> Tensor:
    """How far the whole output moves without the token."""
    return (predict(model, batch)[:, None] - without_each_token(model, batch)).abs().sum(-1) / 2
