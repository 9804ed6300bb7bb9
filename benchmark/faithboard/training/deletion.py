"""Training on texts with words deleted, so that what erasure metrics ask about is in distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor

from faithboard.batch import Batch
from faithboard.classifier import Classifier
from faithboard.rng import TOKEN, Rng
from faithboard.training.definition import Training
from faithboard.training.masking import smallest
from faithboard.training.supervised import CrossEntropy

if TYPE_CHECKING:
    from jaxtyping import Float, Int


@dataclass(frozen=True)
class Deletion:
    """The supervised loss of each text and of a copy with random words deleted, anew in each epoch.

    How many is uniform in 0..T: as likely one word as all of them.
    """

    supervised: CrossEntropy

    def __call__(self, model: Classifier, batch: Batch, labels: Int[Tensor, "batch"], rng: Rng) -> Float[Tensor, ""]:
        """The loss to minimise."""
        count = (rng.uniform() * (batch.scorable_lengths + 1)).long()
        drop = smallest(rng.uniform(TOKEN), batch, count).repeat_interleave(2, 0)
        drop[0::2] = False
        both = batch.repeat(2).without(drop)
        loss = self.supervised(model(both).logits, labels.repeat_interleave(2), both.candidates)
        return loss if self.supervised.reduction == "mean" else loss / 2


WORD_DELETION = Training(
    "word-deletion",
    lambda supervised, config, vocabulary: Deletion(supervised),
    source="Hase et al. 2021, counterfactual training: full and randomly erased texts alike",
    passes=2,
)
