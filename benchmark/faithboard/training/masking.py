"""Trainings that keep a model's prediction when the words that matter least are masked (Ismail et al. 2021).

    loss = CE(f(x), y) + lambda KL(f(x) || f(x masked))

Saliency-guided training masks the words of smallest gradient; its control masks as many words at random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional as F

from faithboard.batch import Batch
from faithboard.classifier import Classifier, Output
from faithboard.config import MASKING, TrainingConfig
from faithboard.data.vocabulary import SPECIAL_WORDS, Vocabulary
from faithboard.gradients import class_gradient
from faithboard.operators import previous_kept
from faithboard.rng import TOKEN, Rng
from faithboard.training.definition import Training
from faithboard.training.supervised import CrossEntropy

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Float64, Int

FILLS = ("previous", "unk", "zero", "random")
"""What can stand in place of a masked word."""

Magnitude = Callable[
    [Classifier, Batch, "Int[Tensor, 'batch']", Rng], "Float[Tensor, 'batch token'] | Float64[Tensor, 'batch token']"
]
"""(model, batch, labels, rng) -> how much each word matters; the smallest are masked."""


def gradient_magnitude(
    model: Classifier, batch: Batch, labels: Int[Tensor, "batch"], rng: Rng
) -> Float64[Tensor, "batch token"]:
    """L2 norm over dimensions of the gradient of the gold class's probability at each embedding, in eval mode."""
    return torch.linalg.vector_norm(class_gradient(model, batch, target=labels), dim=-1, dtype=torch.float64)


def random_magnitude(
    model: Classifier, batch: Batch, labels: Int[Tensor, "batch"], rng: Rng
) -> Float[Tensor, "batch token"]:
    """A uniform number for each word, anew in each epoch."""
    return rng.uniform(TOKEN)


def whole_words(batch: Batch, share: float) -> Int[Tensor, "batch"]:
    """floor(share * T) for each text."""
    # Shares such as 0.29 have no exact binary form: without the small addition 0.29 * 100 is rounded down to 28.
    return (share * batch.scorable_lengths.double() + 1e-9).long()


def smallest(
    magnitude: Float[Tensor, "batch token"], batch: Batch, count: Int[Tensor, "batch"]
) -> Bool[Tensor, "batch token"]:
    """Marks `count` scorable words of smallest magnitude in each text, of equal ones the first."""
    order = magnitude.masked_fill(~batch.scorable, torch.inf).argsort(dim=1, stable=True)
    place = torch.arange(order.shape[1], device=order.device).expand_as(order)
    rank = torch.empty_like(order).scatter_(1, order, place)
    return (rank < count[:, None]) & batch.scorable


def divergence(full: Output, masked: Output, candidates: Bool[Tensor, "batch class"] | None) -> Float64[Tensor, ""]:
    """KL(full || masked), summed over the texts of a batch. Classes that are no candidate do not enter it."""
    log_full, log_masked = (output.log_probabilities(candidates) for output in (full, masked))
    if candidates is not None and full.logits.shape[1] > 1:
        # Both are -inf there, and -inf - -inf is NaN; equal finite numbers add nothing and pass no gradient.
        log_full, log_masked = (value.masked_fill(~candidates, 0.0) for value in (log_full, log_masked))
    return F.kl_div(log_masked, log_full, reduction="sum", log_target=True)


@dataclass(frozen=True)
class Masking:
    """The supervised loss, and the divergence of the prediction on each text from that on its masked copy.

    Which words are masked is a constant to the gradient; both predictions pass it on. A text of fewer than 1/share
    words has none masked and no divergence, whatever dropout makes of two passes over it.
    """

    supervised: CrossEntropy
    magnitude: Magnitude
    share: float
    fill: str
    weight: float
    words: int
    """Words of the vocabulary, special ones apart."""

    def __call__(self, model: Classifier, batch: Batch, labels: Int[Tensor, "batch"], rng: Rng) -> Float[Tensor, ""]:
        """The loss to minimise."""
        magnitude = self.magnitude(model, batch, labels, rng)
        masked = smallest(magnitude, batch, whole_words(batch, self.share))
        rows = masked.any(1).nonzero()[:, 0]
        if len(rows) == 0:
            return self.supervised(model(batch).logits, labels, batch.candidates)
        # Each text and its masked copy, one after the other: one pass over both is faster than two.
        both, here = batch.repeat(2), masked.repeat_interleave(2, 0)
        here[0::2] = False
        if self.fill == "zero":
            embedded = model.embed(both).masked_fill(here[:, :, None], 0.0)
        else:
            both = both.replaced(here, self._fills(batch, masked, rng).repeat_interleave(2, 0))
            embedded = model.embed(both)
        logits = model(both, embedded=embedded).logits
        full, changed = logits[0::2], logits[1::2]
        loss = self.supervised(full, labels, batch.candidates)
        candidates = None if batch.candidates is None else batch.candidates[rows]
        apart = divergence(Output(full[rows]), Output(changed[rows]), candidates)
        texts = 1 if self.supervised.reduction == "sum" else len(batch)
        return loss + self.weight * (apart / texts).to(loss.dtype)

    def _fills(self, batch: Batch, masked: Bool[Tensor, "batch token"], rng: Rng) -> Int[Tensor, "batch token"]:
        """What stands at the masked positions."""
        if self.fill == "previous":
            return previous_kept(batch, masked)
        if self.fill == "unk":
            return torch.full_like(batch.ids, batch.specials.unk)
        return len(SPECIAL_WORDS) + rng.integers(self.words, TOKEN)


def _masking(name: str, magnitude: Magnitude, source: str, passes: int) -> Training:
    def procedure(supervised: CrossEntropy, config: TrainingConfig, vocabulary: Vocabulary) -> Masking:
        return Masking(
            supervised,
            magnitude,
            share=config.mask_share,
            fill=config.mask_fill,
            weight=config.mask_weight,
            words=len(vocabulary) - len(SPECIAL_WORDS),
        )

    return Training(name, procedure, source, passes=passes, reads=MASKING)


SALIENCY_GUIDED = _masking(
    "saliency-guided",
    gradient_magnitude,
    "Ismail et al. 2021, algorithm 1: the words of smallest gradient are masked",
    passes=3,
)
RANDOM_MASKING = _masking(
    "random-masking",
    random_magnitude,
    "control of saliency-guided training: as many words, chosen at random",
    passes=2,
)
