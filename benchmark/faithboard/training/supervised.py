"""The supervised loss of a task. Procedures minimise it, alone or with what they add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

import torch
from torch import Tensor
from torch.nn import functional as F

from faithboard.config import TrainingConfig

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int


@dataclass(frozen=True)
class CrossEntropy:
    """Cross entropy of the gold class; over the candidates alone where a text has some."""

    reduction: Literal["sum", "mean"] = "sum"
    positive_weight: float | None = None
    """Weight of class 1 against class 0, for models with a single output."""

    @classmethod
    def of(cls, config: TrainingConfig, labels: Sequence[int], n_classes: int) -> Self:
        """The loss that `config` asks for; class 1 of two weighs N / positives - 1, as published by Jain & Wallace."""
        positives = sum(label == 1 for label in labels)
        weighed = config.weigh_positive and n_classes == 2 and 0 < positives < len(labels)
        reduction: Literal["sum", "mean"] = "mean" if config.loss_reduction == "mean" else "sum"
        return cls(reduction, len(labels) / positives - 1 if weighed else None)

    def __call__(
        self,
        logits: Float[Tensor, "batch output"],
        labels: Int[Tensor, "batch"],
        candidates: Bool[Tensor, "batch class"] | None = None,
    ) -> Float[Tensor, ""]:
        """The loss of a batch, summed or averaged over its texts."""
        # Logits of a pass in mixed precision have eight bits; what is made of them has more.
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        if logits.shape[1] == 1:
            weight = None if self.positive_weight is None else logits.new_tensor(self.positive_weight)
            return F.binary_cross_entropy_with_logits(
                logits[:, 0], labels.to(logits.dtype), pos_weight=weight, reduction=self.reduction
            )
        if candidates is not None:
            logits = logits.masked_fill(~candidates, -float("inf"))
        return F.cross_entropy(logits, labels, reduction=self.reduction)
