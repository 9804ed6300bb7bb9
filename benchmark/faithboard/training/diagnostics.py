"""What a training does to the gradients of a model: is what the model uses concentrated on fewer words?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from faithboard.batch import Batch
from faithboard.buckets import token_batches, token_budget
from faithboard.classifier import Classifier
from faithboard.data.encoded import Encoded
from faithboard.data.loading import sample
from faithboard.gradients import class_gradient

if TYPE_CHECKING:
    from jaxtyping import Float64
    from torch import Tensor

    from faithboard.data import TaskData

EXAMPLES = 200
"""Test examples whose gradients are looked at: the first ones of those that are explained."""


def bottom_half_mass(model: Classifier, batch: Batch) -> Float64[Tensor, "batch"]:
    """The share of the gradient's mass on the lower half of the words of each text, from 0 to 1/2.

    The mass of a word is the L2 norm over dimensions of dp_j/de_t, j the predicted class; the lower half are the
    floor(T/2) words of smallest mass. NaN for a text of fewer than two words or without any gradient.
    """
    mass = torch.linalg.vector_norm(class_gradient(model, batch), dim=-1, dtype=torch.float64)
    mass = mass.masked_fill(~batch.scorable, 0.0)
    total = mass.sum(1)
    length = batch.scorable_lengths[:, None]
    # Tokens that are not scorable have no mass and come after the words.
    rising = mass.masked_fill(~batch.scorable, torch.inf).sort(dim=1).values
    place = torch.arange(rising.shape[1], device=batch.device)
    lower = rising.masked_fill(place >= length // 2, 0.0).sum(1)
    return torch.where((length[:, 0] > 1) & (total > 0), lower / total, torch.nan)


def mean_bottom_half_mass(model: Classifier, data: TaskData, split: str = "test") -> float | None:
    """Its mean over the first `EXAMPLES` texts of a split that have one; None when none has."""
    texts = Encoded.of(sample(data, split, EXAMPLES), data.vocabulary, data.task)
    budget = token_budget(model.device)
    found = [
        bottom_half_mass(model, texts.batch(rows).to(model.device)).cpu().numpy()
        for rows in token_batches(texts.lengths, budget)
    ]
    share = np.concatenate(found)
    return float(np.nanmean(share)) if np.isfinite(share).any() else None
